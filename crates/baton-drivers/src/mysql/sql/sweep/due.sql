-- The rows that are due, the oldest first, locked one by one. A row that another transaction has locked
-- is left for a later batch.
SELECT {read} FROM {table} WHERE {due} ORDER BY {order} LIMIT ? FOR UPDATE SKIP LOCKED
