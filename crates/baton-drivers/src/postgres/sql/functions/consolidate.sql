-- Applies the oldest pending changes, up to a limit, and takes them out, in one step; unless a
-- later epoch is known. The namespace is locked, and so no epoch can be granted meanwhile and no
-- other step consolidates; the lease is not, and so a renewal does not wait; nor does an append.
CREATE OR REPLACE FUNCTION {t}consolidate(
    space text, seen_lineage numeric, seen_lsn pg_lsn, fenced_by numeric, most bigint
) RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    done bigint;
BEGIN
    IF {t}is_fenced_off(space, seen_lineage, seen_lsn, fenced_by) THEN
        RETURN '"fenced"';
    END IF;
    WITH due AS (
        DELETE FROM {t}counter_deltas WHERE namespace = space AND seq IN (
            SELECT seq FROM {t}counter_deltas WHERE namespace = space ORDER BY seq LIMIT most)
        RETURNING name, seq, is_set, amount
    ), since AS (
        SELECT name, max(seq) AS seq FROM due WHERE is_set GROUP BY name
    ), change AS (
        SELECT due.name, max(due.amount) FILTER (WHERE due.seq = since.seq) AS start,
               coalesce(sum(due.amount) FILTER (WHERE due.seq > coalesce(since.seq, 0)), 0) AS added
        FROM due LEFT JOIN since ON since.name = due.name GROUP BY due.name
    ), result AS (
        SELECT change.name, coalesce(change.start, known.value, 0) + change.added AS total,
               change.start IS NULL AND coalesce(known.overflowed, false) AS is_over
        FROM change
        LEFT JOIN {t}counters AS known ON known.namespace = space AND known.name = change.name
    ), kept AS (
        INSERT INTO {t}counters (namespace, name, value, overflowed, updated_at)
            SELECT space, name, {t}clamped(total), is_over OR total <> {t}clamped(total),
                   clock_timestamp()
            FROM result
            ON CONFLICT (namespace, name) DO UPDATE
                SET value = excluded.value, overflowed = excluded.overflowed,
                    updated_at = excluded.updated_at
    )
    SELECT count(*) INTO done FROM due;
    UPDATE {t}namespaces SET fence = fenced_by WHERE namespace = space;
    RETURN jsonb_build_object('consolidated', jsonb_build_object(
        'applied', done,
        'more', EXISTS (SELECT 1 FROM {t}counter_deltas WHERE namespace = space)));
END
$fn$;

-- Forgets writers that have appended nothing for this long, up to a limit; one that appends right
-- now is left alone. Unless a later epoch is known.
CREATE OR REPLACE FUNCTION {t}forget_writers(
    space text, seen_lineage numeric, seen_lsn pg_lsn, fenced_by numeric, silent_us numeric,
    most bigint
) RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    done bigint;
BEGIN
    IF {t}is_fenced_off(space, seen_lineage, seen_lsn, fenced_by) THEN
        RETURN '"fenced"';
    END IF;
    -- Chosen once: a subquery may be run again for each row, and choose others.
    WITH silent AS MATERIALIZED (
        SELECT writer FROM {t}counter_writers
        WHERE namespace = space
          AND appended_at <= clock_timestamp()
              - least(silent_us, 31556952000000000)::double precision * interval '1 microsecond'
        LIMIT most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM {t}counter_writers AS gone USING silent
        WHERE gone.namespace = space AND gone.writer = silent.writer;
    GET DIAGNOSTICS done = ROW_COUNT;
    UPDATE {t}namespaces SET fence = fenced_by WHERE namespace = space;
    RETURN jsonb_build_object('collected', done);
END
$fn$;
