-- Writes a document if its precondition holds ('"any"', '"absent"' or {"version": n}), and, if it
-- carries an epoch, no later one is known.
CREATE OR REPLACE FUNCTION {t}write_document(
    space text, seen_lineage numeric, seen_lsn pg_lsn, called bytea, said bytea,
    precondition jsonb, fenced_by numeric
) RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    present numeric;
BEGIN
    IF {t}is_fenced_off(space, seen_lineage, seen_lsn, fenced_by) THEN
        RETURN '"fenced"';
    END IF;
    LOOP
        SELECT version INTO present FROM {t}documents
            WHERE namespace = space AND name = called FOR UPDATE;
        present := coalesce(present, 0);
        IF NOT (precondition = '"any"' OR (precondition = '"absent"' AND present = 0)
            OR (present <> 0 AND coalesce((precondition->>'version')::numeric = present, false)))
        THEN
            RETURN jsonb_build_object('conflict', present);
        END IF;
        INSERT INTO {t}documents AS known (namespace, name, version, body, updated_at)
            VALUES (space, called, 1, said, clock_timestamp())
            ON CONFLICT (namespace, name) DO UPDATE
                SET version = known.version + 1, body = excluded.body,
                    updated_at = excluded.updated_at
                WHERE known.version = present;
        -- Another first write came in between: look again.
        EXIT WHEN FOUND;
    END LOOP;
    IF fenced_by IS NOT NULL THEN
        UPDATE {t}namespaces SET fence = fenced_by WHERE namespace = space;
    END IF;
    RETURN jsonb_build_object('written', present + 1);
END
$fn$;
