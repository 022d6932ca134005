SELECT * FROM datasets_json
