-- Old records go: nodes that were silent for long, then terms beyond those that are kept. NULL if a
-- later epoch is known.
--
-- The namespace is locked, as for every fenced write. A node whose record is locked is beating just
-- now: it is passed over, so that no step waits for another.
CREATE OR REPLACE FUNCTION {t}prune(
    space text, seen_lineage numeric, seen_lsn pg_lsn, fenced_by numeric, dead_ms bigint,
    keep bigint, most bigint
) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    at    timestamptz;
    nodes bigint;
    terms bigint;
BEGIN
    IF {t}is_fenced_off(space, seen_lineage, seen_lsn, fenced_by) THEN
        RETURN NULL;
    END IF;
    at := clock_timestamp();
    DELETE FROM {t}nodes WHERE namespace = space AND node_id = ANY (ARRAY(
        SELECT node_id FROM {t}nodes
            WHERE namespace = space AND beat_at <= at - dead_ms * interval '1 millisecond'
            ORDER BY node_id LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS nodes = ROW_COUNT;
    DELETE FROM {t}terms WHERE namespace = space AND seq = ANY (ARRAY(
        SELECT seq FROM {t}terms
            WHERE namespace = space
              AND seq <= (SELECT max(seq) FROM {t}terms WHERE namespace = space) - keep
            ORDER BY seq LIMIT most - nodes));
    GET DIAGNOSTICS terms = ROW_COUNT;
    IF nodes + terms > 0 THEN
        UPDATE {t}namespaces SET fence = fenced_by WHERE namespace = space;
    END IF;
    RETURN nodes + terms;
END
$fn$;
