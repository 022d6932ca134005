CREATE MACRO answer_of(text) AS
CASE
  WHEN text LIKE '{%' AND json_valid(text) AND json_keys(text) = ['accept'] AND json_type(text, '$.accept') = 'ARRAY'
    THEN array_to_string(list_sort(list_distinct(from_json(text -> '$.accept', '["VARCHAR"]'))), ' or ')
  ELSE regexp_replace(text, '\n$', '')
END
