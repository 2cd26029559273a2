-- What version 4 adds: how long a gap can have been at most. Unknown for the terms before.
ALTER TABLE {t}terms ADD COLUMN gap_at_most_ms bigint;

-- It takes an argument more now.
DROP FUNCTION IF EXISTS {t}begin_term(text, timestamptz, numeric, jsonb, bigint, jsonb);
