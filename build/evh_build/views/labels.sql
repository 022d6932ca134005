SELECT * FROM labels_json
UNION ALL BY NAME
SELECT
  label_set,
  item_id,
  item_sha256,
  text AS label,
  CASE
    WHEN text LIKE '{%' AND json_valid(text) AND json_keys(text) = ['accept'] AND json_type(text, '$.accept') = 'ARRAY'
      THEN array_to_string(list_sort(list_distinct(from_json(text -> '$.accept', '["VARCHAR"]'))), ' or ')
    ELSE regexp_replace(text, '\n$', '')
  END AS answer,
  note,
  slice
FROM (SELECT *, try(decode(label)) AS text FROM labels_parquet)
