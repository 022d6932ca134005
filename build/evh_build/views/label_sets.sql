SELECT * FROM label_sets_json
