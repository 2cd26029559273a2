-- Goes on with a term. The lease is locked already, and the clock was read after that: a renewal
-- that waited for its turn is judged by the time it got it.
CREATE OR REPLACE FUNCTION {t}renew(
    lease {t}locks, at timestamptz, lineage numeric, wished jsonb,
    OUT outcome text, OUT after {t}locks
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    outcome := 'conflict';
    after := lease;
    IF lease.lock_key IS NULL OR lease.status <> 1 OR at >= lease.expires_at
        OR (wished->>'lineage')::numeric <> lineage
        OR NOT {t}is_at(lease, wished->'expect')
    THEN
        RETURN;
    END IF;
    outcome := 'applied';
    UPDATE {t}locks
        SET nonce_boot = wished->'nonce'->>'boot',
            nonce_attempt = (wished->'nonce'->>'attempt')::numeric,
            ttl_us = {t}us(wished->'ttl'),
            expires_at = {t}later(at, {t}us(wished->'ttl')),
            written_in = lineage,
            updated_at = at
        WHERE lock_key = lease.lock_key
        RETURNING * INTO after;
END
$fn$;
