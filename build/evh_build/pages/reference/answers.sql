SELECT reference, answer, count(*) AS n
FROM reference_labels
GROUP BY ALL
ORDER BY reference, n DESC, answer
