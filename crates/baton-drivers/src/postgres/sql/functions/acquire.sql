-- How the last term ends if the claim holds: null if it does not, '"open"' if no term was open.
CREATE OR REPLACE FUNCTION {t}claim(lease {t}locks, at timestamptz, lineage numeric, claimed jsonb)
RETURNS jsonb LANGUAGE sql STABLE AS $fn$
    SELECT CASE
        WHEN (claimed->>'lineage')::numeric <> lineage THEN NULL
        WHEN lease.lock_key IS NULL THEN
            CASE WHEN claimed->'expect' = 'null' AND claimed->'claim' = '"vacant"'
                 THEN '"open"'::jsonb END
        WHEN NOT {t}is_at(lease, claimed->'expect') THEN NULL
        WHEN claimed->'claim' = '"vacant"' THEN
            CASE WHEN lease.status = 0 THEN '"open"'::jsonb END
        WHEN lease.status = 0 THEN NULL
        WHEN claimed->'claim' = '"expired"' THEN
            CASE WHEN at >= lease.expires_at THEN '"expired"'::jsonb END
        WHEN claimed->'claim'->'dead'->>'boot' = lease.owner_boot THEN '"proved-dead"'::jsonb
    END
$fn$;

-- Begins a new term, if the claim holds. The namespace and the lease are locked already, and the
-- clock was read after that. The lease after this step.
CREATE OR REPLACE FUNCTION {t}acquire(
    space {t}namespaces, lease {t}locks, at timestamptz, lineage numeric, node jsonb,
    lifeline text, claimed jsonb, OUT outcome text, OUT after {t}locks
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    last_end  jsonb := {t}claim(lease, at, lineage, claimed);
    ended_ms  numeric;
    silent_ms numeric;
    passed    numeric;
    term      numeric;
    ttl_us    CONSTANT numeric := {t}us(claimed->'ttl');
BEGIN
    IF last_end IS NULL THEN
        outcome := 'conflict';
        after := lease;
        RETURN;
    END IF;
    -- Above all that was granted or written in here, all that the claimant has seen, and all that
    -- may have been granted and lost: a thousand for each lineage since the last grant.
    passed := greatest(0, lineage - coalesce(lease.granted_in, space.born_in));
    term := least(18446744073709551615, 1 + greatest(
        coalesce(lease.epoch, 0) + passed * 1000, (claimed->>'floor')::numeric, space.fence));
    IF last_end = '"open"' THEN
        last_end := NULL;
    ELSE
        -- The holder could act until now, or until its lease ran out; it is only known to have
        -- acted until it last renewed it.
        ended_ms := {t}ms(least(at, lease.expires_at));
        silent_ms := div({t}us_after(lease.updated_at, at), 1000);
    END IF;
    PERFORM {t}begin_term(
        space.namespace, at, term, node, ended_ms::bigint, last_end, silent_ms::bigint);
    INSERT INTO {t}locks AS known (lock_key, owner_id, expires_at, epoch, status, created_at,
            updated_at, owner_boot, owner_lifeline, nonce_boot, nonce_attempt, successor, ttl_us,
            written_in, granted_in, asked)
        VALUES (space.namespace, node->>'id', {t}later(at, ttl_us), term, 1, at, at, node->>'boot',
                lifeline, claimed->'nonce'->>'boot', (claimed->'nonce'->>'attempt')::numeric, NULL,
                ttl_us, lineage, lineage, NULL)
        ON CONFLICT (lock_key) DO UPDATE
            SET owner_id = excluded.owner_id, expires_at = excluded.expires_at,
                epoch = excluded.epoch, status = 1, updated_at = excluded.updated_at,
                owner_boot = excluded.owner_boot, owner_lifeline = excluded.owner_lifeline,
                nonce_boot = excluded.nonce_boot, nonce_attempt = excluded.nonce_attempt,
                successor = NULL, ttl_us = excluded.ttl_us, written_in = excluded.written_in,
                granted_in = excluded.granted_in, asked = NULL
        RETURNING known.* INTO after;
    outcome := 'applied';
END
$fn$;

-- The microseconds of a span, {"secs": …, "nanos": …}.
CREATE OR REPLACE FUNCTION {t}us(span jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE AS $fn$
    SELECT (span->>'secs')::numeric * 1000000 + pg_catalog.div((span->>'nanos')::numeric, 1000)
$fn$;

-- This many microseconds after a moment, or a thousand years: whichever is sooner.
CREATE OR REPLACE FUNCTION {t}later(moment timestamptz, us numeric) RETURNS timestamptz
LANGUAGE sql STABLE AS $fn$
    SELECT moment + least(us, 31556952000000000)::double precision * interval '1 microsecond'
$fn$;
