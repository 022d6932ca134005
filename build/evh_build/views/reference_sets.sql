SELECT * FROM reference_sets_json
