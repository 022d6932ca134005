-- What every set says of every item's bytes: reference sets of the item's dataset, and label sets wherever they lie.
-- Equal bytes under two ids of one set say the same, so one row stands for both.
SELECT
  i.dataset_id,
  i.item_id,
  0 AS place,
  r.reference AS ref,
  r.dataset_id AS from_dataset,
  min(l.label) AS label,
  NULL AS note,
  NULL AS slice
FROM items AS i
JOIN reference_labels AS l ON l.item_sha256 = i.sha256
JOIN reference_sets AS r ON r.reference = l.reference
GROUP BY ALL
UNION ALL
SELECT
  i.dataset_id,
  i.item_id,
  CASE WHEN s.dataset_id = i.dataset_id THEN 1 ELSE 2 END AS place,
  'labels/' || s.label_set AS ref,
  s.dataset_id AS from_dataset,
  min(l.label) AS label,
  min(l.note) AS note,
  min(l.slice) AS slice
FROM items AS i
JOIN labels AS l ON l.item_sha256 = i.sha256
JOIN label_sets AS s ON s.label_set = l.label_set
GROUP BY ALL
ORDER BY dataset_id, item_id, place, ref
