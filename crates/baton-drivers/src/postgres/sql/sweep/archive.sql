-- The rows that are due, moved to where they are kept.
WITH due AS MATERIALIZED ({locked}),
gone AS (DELETE FROM {table} WHERE {these} AND {due} RETURNING {columns})
INSERT INTO {into} ({columns}) SELECT {columns} FROM gone
