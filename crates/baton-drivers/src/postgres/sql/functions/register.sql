-- Writes the node's record, unless another process goes by its id. Locks this row and no other.
CREATE OR REPLACE FUNCTION {t}register(space text, node jsonb, described text, replaces text)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    taken record;
BEGIN
    LOOP
        INSERT INTO {t}nodes AS known (namespace, node_id, boot, beat, eligible, draining, load,
                                       seen, profile, partitions, beat_at)
            VALUES (space, node->>'id', node->>'boot', (node->>'beat')::numeric,
                    (node->>'eligible')::boolean, (node->>'draining')::boolean,
                    (node->>'load')::bigint, (node->>'seen')::numeric, described,
                    node->>'partitions', clock_timestamp())
            ON CONFLICT (namespace, node_id) DO UPDATE
                SET boot = excluded.boot, beat = excluded.beat, eligible = excluded.eligible,
                    draining = excluded.draining, load = excluded.load, seen = excluded.seen,
                    profile = excluded.profile, partitions = excluded.partitions,
                    beat_at = excluded.beat_at
                WHERE known.boot IN (excluded.boot, replaces);
        IF FOUND THEN
            RETURN '"registered"';
        END IF;
        SELECT boot, beat INTO taken FROM {t}nodes
            WHERE namespace = space AND node_id = node->>'id';
        -- Gone in this moment: then the id is free.
        IF FOUND THEN
            RETURN jsonb_build_object('taken-by',
                jsonb_build_object('boot', taken.boot, 'beat', taken.beat));
        END IF;
    END LOOP;
END
$fn$;
