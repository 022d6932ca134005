SELECT * FROM labels_json
UNION ALL BY NAME
SELECT
  label_set,
  item_id,
  item_sha256,
  try(decode(label)) AS label,
  try(decode(label)) AS answer,
  note,
  slice
FROM labels_parquet
