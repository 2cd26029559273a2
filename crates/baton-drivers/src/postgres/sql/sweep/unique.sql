-- The columns of each unique index of a table: valid, of all rows, of columns alone. What it only
-- includes is not one of them.
SELECT array_agg(attname::text)
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_attribute
        ON attrelid = indrelid AND attnum = ANY (indkey[0:indnkeyatts - 1])
    WHERE indrelid = to_regclass($1) AND indisunique AND indisvalid
        AND indpred IS NULL AND indexprs IS NULL
    GROUP BY indexrelid
