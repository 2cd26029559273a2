-- A term begins; the last one, if it is still open, ended when and as given, and its holder was
-- silent this long by now. Only under the lock of the namespace, so that no two begin together.
CREATE OR REPLACE FUNCTION {t}begin_term(
    space text, at timestamptz, term numeric, node jsonb, last_ended_ms bigint, last_end jsonb,
    silent_ms bigint
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    last {t}terms;
    now_ms CONSTANT bigint := {t}ms(at);
BEGIN
    SELECT * INTO last FROM {t}terms WHERE namespace = space ORDER BY seq DESC LIMIT 1;
    IF FOUND AND last.ended_ms IS NULL AND last_end IS NOT NULL THEN
        UPDATE {t}terms SET ended_ms = last_ended_ms, ended_by = last_end
            WHERE namespace = space AND seq = last.seq;
        last.ended_ms := last_ended_ms;
    ELSE
        silent_ms := NULL;
    END IF;
    last.seq := coalesce(last.seq, 0) + 1;
    INSERT INTO {t}terms (namespace, seq, epoch, node_id, boot, began_ms, gap_ms, gap_at_most_ms)
        VALUES (space, last.seq, term, node->>'id', node->>'boot', now_ms,
                CASE WHEN last.ended_ms IS NOT NULL
                     THEN greatest(now_ms - last.ended_ms, 0) END, silent_ms);
    DELETE FROM {t}terms WHERE namespace = space AND seq <= last.seq - 1000;
END
$fn$;

-- The term of this epoch ends, if it is the last one.
CREATE OR REPLACE FUNCTION {t}end_term(space text, at timestamptz, term numeric, how jsonb)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    UPDATE {t}terms SET ended_ms = {t}ms(at), ended_by = how
        WHERE namespace = space AND epoch = term
          AND seq = (SELECT max(seq) FROM {t}terms WHERE namespace = space);
END
$fn$;
