-- What a table consists of; the schema is the session's own unless one is named.
SELECT column_name, data_type, extra, is_nullable FROM information_schema.columns
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? ORDER BY ordinal_position
