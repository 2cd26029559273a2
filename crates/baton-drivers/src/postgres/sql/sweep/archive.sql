WITH due AS MATERIALIZED ({locked}),
gone AS (DELETE FROM {table} WHERE {these} RETURNING {columns})
INSERT INTO {into} ({columns}) SELECT {columns} FROM gone
