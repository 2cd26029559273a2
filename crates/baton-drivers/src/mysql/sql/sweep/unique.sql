-- The columns of each unique index of a table, the primary key among them.
SELECT index_name, column_name FROM information_schema.statistics
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND non_unique = 0
