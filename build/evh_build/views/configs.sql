SELECT * FROM configs_json
