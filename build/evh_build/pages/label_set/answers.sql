SELECT label_set, answer, count(*) AS n
FROM labels
GROUP BY ALL
ORDER BY label_set, n DESC, answer
