-- Appends changes of counters, unless the writer has appended this number or a higher one. Locks
-- the writer's own row and nothing else.
CREATE OR REPLACE FUNCTION {t}append_deltas(
    space text, by_writer text, its_number numeric, names bytea[], sets boolean[], amounts bigint[]
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    -- An acknowledged addition must outlast a crash, whatever the session has set.
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    INSERT INTO {t}counter_writers AS known (namespace, writer, last, appended_at)
        VALUES (space, by_writer, its_number, clock_timestamp())
        ON CONFLICT (namespace, writer) DO UPDATE
            SET last = excluded.last, appended_at = excluded.appended_at
            WHERE known.last < excluded.last;
    IF FOUND THEN
        INSERT INTO {t}counter_deltas (namespace, name, is_set, amount)
            SELECT space, delta.name, delta.is_set, delta.amount
            FROM unnest(names, sets, amounts) WITH ORDINALITY
                AS delta (name, is_set, amount, at)
            ORDER BY delta.at;
    END IF;
END
$fn$;
