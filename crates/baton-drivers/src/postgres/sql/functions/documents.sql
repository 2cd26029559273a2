-- Writes documents, all or none, if every precondition holds ('"any"', '"absent"' or {"version": n}),
-- and, if the call carries an epoch, no later one is known. Names differ.
--
-- The rows that are there are locked before anything is compared. A batch has the namespace to itself,
-- and so no two batches wait for each other's rows; one document is written without that lock.
CREATE OR REPLACE FUNCTION {t}write_documents(
    space text, seen_lineage numeric, seen_lsn pg_lsn, names bytea[], bodies bytea[],
    preconditions jsonb, fenced_by numeric
) RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    present   numeric[];
    wanted    jsonb;
    to_insert bigint;
    inserted  bigint;
BEGIN
    IF {t}is_fenced_off(space, seen_lineage, seen_lsn, fenced_by) THEN
        RETURN '"fenced"';
    END IF;
    IF fenced_by IS NULL AND cardinality(names) > 1 THEN
        PERFORM 1 FROM {t}namespaces WHERE namespace = space FOR UPDATE;
    END IF;
    LOOP
        SELECT array_agg(coalesce(known.version, 0) ORDER BY called.at) INTO present
            FROM unnest(names) WITH ORDINALITY AS called (name, at)
            LEFT JOIN (SELECT name, version FROM {t}documents
                       WHERE namespace = space AND name = ANY (names) FOR UPDATE) AS known
                ON known.name = called.name;
        to_insert := 0;
        FOR at IN 1 .. cardinality(names) LOOP
            wanted := preconditions->(at - 1);
            IF NOT (wanted = '"any"' OR (wanted = '"absent"' AND present[at] = 0)
                OR (present[at] <> 0 AND coalesce((wanted->>'version')::numeric = present[at], false)))
            THEN
                RETURN jsonb_build_object('conflict',
                    jsonb_build_object('index', at - 1, 'version', present[at]));
            END IF;
            to_insert := to_insert + (present[at] = 0)::integer;
        END LOOP;
        EXIT WHEN to_insert = 0;
        BEGIN
            INSERT INTO {t}documents (namespace, name, version, body, updated_at)
                SELECT space, write.name, 1, write.body, clock_timestamp()
                FROM unnest(names, bodies, present) AS write (name, body, version)
                WHERE write.version = 0
                ON CONFLICT (namespace, name) DO NOTHING;
            GET DIAGNOSTICS inserted = ROW_COUNT;
            EXIT WHEN inserted = to_insert;
            -- Another first write came in between: undo this one, and look again.
            RAISE unique_violation;
        EXCEPTION WHEN unique_violation THEN
            NULL;
        END;
    END LOOP;
    IF to_insert < cardinality(names) THEN
        UPDATE {t}documents AS known
            SET version = known.version + 1, body = write.body, updated_at = clock_timestamp()
            FROM unnest(names, bodies, present) AS write (name, body, version)
            WHERE known.namespace = space AND known.name = write.name AND write.version <> 0;
    END IF;
    IF fenced_by IS NOT NULL THEN
        UPDATE {t}namespaces SET fence = fenced_by WHERE namespace = space;
    END IF;
    RETURN jsonb_build_object('written',
        (SELECT jsonb_agg(it.version + 1 ORDER BY it.at)
         FROM unnest(present) WITH ORDINALITY AS it (version, at)));
END
$fn$;

-- What programs of schema version 5 call: a batch of one.
CREATE OR REPLACE FUNCTION {t}write_document(
    space text, seen_lineage numeric, seen_lsn pg_lsn, called bytea, said bytea,
    precondition jsonb, fenced_by numeric
) RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    outcome jsonb := {t}write_documents(space, seen_lineage, seen_lsn, ARRAY[called], ARRAY[said],
                                        jsonb_build_array(precondition), fenced_by);
BEGIN
    RETURN CASE
        WHEN outcome ? 'written' THEN jsonb_build_object('written', outcome->'written'->0)
        WHEN outcome ? 'conflict' THEN jsonb_build_object('conflict', outcome->'conflict'->'version')
        ELSE outcome
    END;
END
$fn$;
