SELECT l.reference, l.item_id, l.answer
FROM reference_labels AS l
JOIN reference_sets AS r ON r.reference = l.reference
LEFT JOIN items AS i ON i.dataset_id = r.dataset_id AND i.item_id = l.item_id
ORDER BY l.reference, i.position NULLS LAST, l.item_id
