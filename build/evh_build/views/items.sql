SELECT * FROM items_json
UNION ALL BY NAME
SELECT
  dataset_id,
  row_number() OVER (PARTITION BY dataset_id) - 1 AS position,
  item_id,
  sha256,
  try(decode(text)) AS text,
  fields,
  -- a lone surrogate is no character, and DuckDB reads no JSON with one
  CASE
    WHEN json_valid(lineage) THEN lineage
    ELSE regexp_replace(lineage, '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '?', 'g')
  END AS lineage
FROM items_parquet
