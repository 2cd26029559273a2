-- The rows that are due, the oldest first, locked one by one. A row that another transaction has locked
-- is left for a later batch; one that was changed meanwhile is looked at again as it is now.
-- {order} is the column that decides; {due} compares it with the time at which this began.
SELECT tableoid AS part, ctid AS place FROM {table}
    WHERE {due} ORDER BY {order} LIMIT $1 FOR UPDATE SKIP LOCKED
