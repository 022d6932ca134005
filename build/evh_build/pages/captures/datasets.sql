-- Which datasets hold items of which capture.
SELECT DISTINCT lineage ->> '$.capture' AS capture_id, dataset_id
FROM items
WHERE lineage ->> '$.capture' IS NOT NULL
ORDER BY capture_id, dataset_id
