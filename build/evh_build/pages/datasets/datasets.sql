SELECT
  d.dataset_id,
  d.created_at,
  d.description,
  d.governed,
  d.visibility,
  d.redistributable,
  d.parent,
  d.task,
  d.n_items,
  (SELECT count(*) FROM label_sets AS s WHERE s.dataset_id = d.dataset_id) AS n_label_sets,
  (SELECT count(*) FROM reference_sets AS r WHERE r.dataset_id = d.dataset_id) AS n_references,
  (SELECT count(DISTINCT config_id) FROM runs AS r WHERE r.dataset_id = d.dataset_id) AS n_arms
FROM datasets AS d
ORDER BY d.dataset_id
