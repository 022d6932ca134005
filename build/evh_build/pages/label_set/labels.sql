SELECT l.label_set, l.item_id, l.answer, l.note, l.slice
FROM labels AS l
JOIN label_sets AS s ON s.label_set = l.label_set
LEFT JOIN items AS i ON i.dataset_id = s.dataset_id AND i.item_id = l.item_id
ORDER BY l.label_set, i.position NULLS LAST, l.item_id
