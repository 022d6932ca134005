SELECT * FROM picks_json
