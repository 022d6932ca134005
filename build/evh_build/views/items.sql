SELECT * FROM items_json
UNION ALL BY NAME
SELECT
  dataset_id,
  row_number() OVER (PARTITION BY dataset_id) - 1 AS position,
  item_id,
  sha256,
  try(decode(text)) AS text,
  fields,
  lineage
FROM items_parquet
