SELECT * FROM runs_json
