SELECT * FROM figures_json
