-- How often each value of each field occurs; the values are compact JSON, shown as text.
SELECT
  i.dataset_id,
  f.key AS field,
  CASE WHEN json_type(f.value) = 'VARCHAR' THEN f.value ->> '$' ELSE f.value::VARCHAR END AS value,
  count(*) AS n
FROM items AS i, json_each(i.fields) AS f
GROUP BY ALL
ORDER BY i.dataset_id, field, n DESC, value
