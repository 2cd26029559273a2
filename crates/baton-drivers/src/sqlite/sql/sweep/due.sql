-- The rows that are due, the oldest first.
SELECT {key} FROM {table} WHERE {due}{known} ORDER BY {order} LIMIT ?1
