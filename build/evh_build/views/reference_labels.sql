SELECT * FROM reference_labels_json
UNION ALL BY NAME
SELECT
  reference,
  item_id,
  item_sha256,
  text AS label,
  answer_of(text) AS answer
FROM (SELECT *, try(decode(label)) AS text FROM reference_labels_parquet)
