-- What a table consists of. A generated column is never written.
SELECT relkind::text, relhassubclass OR relkind = 'p', attname::text,
       format_type(atttypid, NULL), attgenerated::text, NOT attnotnull
    FROM pg_catalog.pg_class JOIN pg_catalog.pg_attribute ON attrelid = pg_class.oid
    WHERE pg_class.oid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
