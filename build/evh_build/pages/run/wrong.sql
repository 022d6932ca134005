-- The items that a run failed on, or whose metric `correct` is 0.
SELECT p.run, p.item_id, p.decision, p.error
FROM predictions AS p
JOIN runs AS r ON r.run = p.run
LEFT JOIN scores AS s ON s.run = p.run AND s.item_id = p.item_id AND s.metric = 'correct'
LEFT JOIN items AS i ON i.dataset_id = r.dataset_id AND i.item_id = p.item_id
WHERE p.error IS NOT NULL OR s.value = 0
ORDER BY p.run, p.error IS NULL, i.position NULLS LAST, p.item_id
