DELETE FROM {table} WHERE ctid = ANY ($2::text[]::tid[])
    AND (tableoid, ctid) IN (SELECT * FROM unnest($1::oid[], $2::text[]::tid[]))
