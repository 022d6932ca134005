SELECT * FROM reference_labels_json
UNION ALL BY NAME
SELECT
  reference,
  item_id,
  item_sha256,
  try(decode(label)) AS label,
  try(decode(label)) AS answer
FROM reference_labels_parquet
