SELECT * FROM labels_json
UNION ALL BY NAME
SELECT
  label_set,
  item_id,
  item_sha256,
  text AS label,
  answer_of(text) AS answer,
  note,
  slice
FROM (SELECT *, try(decode(label)) AS text FROM labels_parquet)
