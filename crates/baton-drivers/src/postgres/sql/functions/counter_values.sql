-- The nearest number of 64 bits.
CREATE OR REPLACE FUNCTION {t}clamped(total numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $fn$
    SELECT least(greatest(total, -9223372036854775808), 9223372036854775807)::bigint
$fn$;

-- The counters of these names as they stand, at the moment of the statement that calls this: what
-- is consolidated, and the same with all that is pending. What was never counted is left out.
CREATE OR REPLACE FUNCTION {t}counter_values(space text, wanted bytea[])
RETURNS TABLE (
    counter bytea, value bigint, overflowed boolean, current_value bigint, current_overflowed boolean
) LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $fn$
    WITH due AS (
        SELECT name, seq, is_set, amount FROM {t}counter_deltas
        WHERE namespace = space AND name = ANY (wanted)
    ), since AS (
        SELECT name, max(seq) AS seq FROM due WHERE is_set GROUP BY name
    ), change AS (
        SELECT due.name, max(due.amount) FILTER (WHERE due.seq = since.seq) AS start,
               coalesce(sum(due.amount) FILTER (WHERE due.seq > coalesce(since.seq, 0)), 0) AS added
        FROM due LEFT JOIN since ON since.name = due.name GROUP BY due.name
    ), found AS (
        SELECT asked.name, known.value, known.overflowed,
               change.start IS NULL AND coalesce(known.overflowed, false) AS is_over,
               coalesce(change.start, known.value, 0) + coalesce(change.added, 0) AS total
        FROM (SELECT DISTINCT unnest(wanted) AS name) AS asked
        LEFT JOIN change ON change.name = asked.name
        LEFT JOIN {t}counters AS known ON known.namespace = space AND known.name = asked.name
        WHERE change.name IS NOT NULL OR known.name IS NOT NULL
    )
    SELECT name, coalesce(found.value, 0), coalesce(found.overflowed, false),
           {t}clamped(total), is_over OR total <> {t}clamped(total)
    FROM found ORDER BY name
$fn$;
