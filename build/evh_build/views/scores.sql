SELECT * FROM scores_json
UNION ALL BY NAME
SELECT run, item_id, unnest(map_keys(scores)) AS metric, unnest(map_values(scores)) AS value
FROM predictions_parquet
