-- Clears the holder and keeps everything else. Sessions that listen are notified in the same transaction.
CREATE OR REPLACE FUNCTION {t}release(
    space text, seen_lineage numeric, seen_lsn pg_lsn, release jsonb, hint text
) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    lease {t}locks;
    at    timestamptz;
BEGIN
    PERFORM {t}settle(seen_lineage, seen_lsn, false);
    lease := {t}lease(space, true);
    at := clock_timestamp();
    IF lease.lock_key IS NULL OR lease.status <> 1 OR NOT {t}is_at(lease, release->'expect') THEN
        RETURN 'conflict';
    END IF;
    UPDATE {t}locks
        SET status = 0, owner_id = NULL, owner_boot = NULL, owner_lifeline = NULL,
            nonce_boot = release->'nonce'->>'boot',
            nonce_attempt = (release->'nonce'->>'attempt')::numeric,
            successor = release->>'successor', expires_at = at, asked = NULL, updated_at = at
        WHERE lock_key = space;
    -- A holder whose lease ran out before this could not act after that.
    PERFORM {t}end_term(space, least(at, lease.expires_at), lease.epoch,
                        jsonb_build_object('released', release->'reason'));
    PERFORM pg_notify({t}channel(space), hint);
    RETURN 'applied';
END
$fn$;

-- Leaves a request beside the lease.
CREATE OR REPLACE FUNCTION {t}ask(
    space text, seen_lineage numeric, seen_lsn pg_lsn, term numeric, wish jsonb, hint text
) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    lease {t}locks;
BEGIN
    PERFORM {t}settle(seen_lineage, seen_lsn, false);
    lease := {t}lease(space, true);
    IF lease.lock_key IS NULL OR lease.status <> 1 OR lease.epoch <> term THEN
        RETURN 'conflict';
    END IF;
    UPDATE {t}locks SET asked = wish WHERE lock_key = space;
    PERFORM pg_notify({t}channel(space), hint);
    RETURN 'applied';
END
$fn$;
