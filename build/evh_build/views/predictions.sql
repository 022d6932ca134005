SELECT * FROM predictions_json
UNION ALL BY NAME
SELECT run, item_id, output, decision, error, latency_ms, tokens_in, tokens_out, cost_usd
FROM predictions_parquet
