-- The rows that are due, the oldest first. {bound} lets an index on the column find them, {exactly}
-- decides.
SELECT {key} FROM {table} WHERE {bound} AND {exactly} ORDER BY {order} LIMIT ?1
