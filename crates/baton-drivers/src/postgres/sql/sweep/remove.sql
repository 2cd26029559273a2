-- The rows that the callback was given and that are due, deleted. The first condition finds them, the second one
-- tells the parts of a table apart.
DELETE FROM {table} WHERE ctid = ANY ($2::text[]::tid[])
    AND (tableoid, ctid) IN (SELECT * FROM unnest($1::oid[], $2::text[]::tid[])) AND {due}
