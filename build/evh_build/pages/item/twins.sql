-- Other items with the same bytes.
SELECT a.dataset_id, a.item_id, b.dataset_id AS twin_dataset, b.item_id AS twin_item
FROM items AS a
JOIN items AS b ON a.sha256 = b.sha256
WHERE (a.dataset_id, a.item_id) <> (b.dataset_id, b.item_id)
ORDER BY a.dataset_id, a.item_id, b.dataset_id, b.item_id
