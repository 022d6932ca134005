SELECT * FROM captures_json
