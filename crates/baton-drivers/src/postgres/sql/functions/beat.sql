-- One beat: the node record, the lease, and the view if it moved. One statement, one round trip,
-- one transaction.
--
-- Locks, in the order that every step keeps: the lineage (a claim only, shared), the node's own
-- row, the namespace (a claim only), the lease (a claim or a renewal). A mere look waits for no
-- process but another of its own name, and may leave even its own record as it is.
--
-- READ COMMITTED suffices: what a decision rests on is read after its lock was taken, each
-- statement in here sees what was committed before it began, and the clock is read last, under the
-- locks. In a stricter session a lost race is an error that undoes the step (40001), never a wrong grant.
CREATE OR REPLACE FUNCTION {t}beat(
    space text, seen_lineage numeric, seen_lsn pg_lsn, request jsonb, described text,
    lifeline text, OUT reply jsonb, OUT view text, OUT lsn pg_lsn
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    intent     CONSTANT jsonb := request->'lease';
    claims     boolean := intent ? 'acquire' AND jsonb_typeof(intent) = 'object';
    renews     boolean := intent ? 'renew' AND jsonb_typeof(intent) = 'object';
    lineage    numeric := {t}settle(seen_lineage, seen_lsn, claims);
    registered jsonb;
    home       {t}namespaces;
    lease      {t}locks;
    step       record;
    outcome    text;
    at         timestamptz;
BEGIN
    IF NOT claims AND NOT renews AND request->>'recording' = 'leave' THEN
        -- A mere look that writes nothing costs the server no flush.
        SELECT '"registered"' INTO registered FROM {t}nodes
            WHERE namespace = space AND node_id = request->'node'->>'id'
              AND boot = request->'node'->>'boot';
    END IF;
    registered := coalesce(registered,
        {t}register(space, request->'node', described, request->>'replaces'));
    claims := claims AND registered = '"registered"';
    renews := renews AND registered = '"registered"';
    home := {t}space(space, lineage, claims);
    lease := {t}lease(space, claims OR renews);
    at := clock_timestamp();
    IF claims THEN
        step := {t}acquire(
            home, lease, at, lineage, request->'node', lifeline, intent->'acquire');
    ELSIF renews THEN
        step := {t}renew(lease, at, lineage, intent->'renew');
    END IF;
    IF claims OR renews THEN
        outcome := step.outcome;
        lease := step.after;
    END IF;
    SELECT body INTO view FROM {t}views
        WHERE namespace = space
          AND (epoch, number) > ((request->'known_view'->>'epoch')::numeric,
                                 (request->'known_view'->>'number')::numeric);
    reply := jsonb_build_object('registration', registered, 'lease', {t}show(lease, at),
                                'outcome', outcome, 'lineage', lineage, 'view', NULL);
    lsn := pg_current_wal_flush_lsn();
END
$fn$;
