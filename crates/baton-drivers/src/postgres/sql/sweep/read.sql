-- The same rows as values, for the user's callback. They stay locked until the transaction ends.
SELECT tableoid, ctid::text, to_jsonb(swept)::text FROM {table} AS swept
    WHERE {due} ORDER BY {order} LIMIT $1 FOR UPDATE SKIP LOCKED
