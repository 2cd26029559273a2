-- The lease of a namespace, all null if it never had one. What is not a lease of ours raises BT001,
-- which undoes the whole step. With `hold`, no other step writes it until this step is done.
CREATE OR REPLACE FUNCTION {t}lease(space text, hold boolean)
RETURNS {t}locks LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    lease {t}locks;
    hex   CONSTANT text := '^[0-9a-f]{32}$';
    name  CONSTANT text := '^[A-Za-z0-9._:-]{1,128}$';
    wrong text;
BEGIN
    IF hold THEN
        SELECT * INTO lease FROM {t}locks WHERE lock_key = space FOR UPDATE;
    ELSE
        SELECT * INTO lease FROM {t}locks WHERE lock_key = space;
    END IF;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    wrong := CASE
        WHEN lease.nonce_boot !~ hex THEN 'nonce_boot'
        WHEN lease.owner_boot !~ hex THEN 'owner_boot'
        WHEN lease.owner_id !~ name THEN 'owner_id'
        WHEN lease.successor !~ name THEN 'successor'
        WHEN lease.status NOT IN (0, 1)
            OR (lease.status = 1) <> (lease.owner_id IS NOT NULL)
            OR (lease.status = 1) <> (lease.owner_boot IS NOT NULL) THEN 'status'
        WHEN {t}is_no_count(lease.epoch) THEN 'epoch'
        WHEN {t}is_no_count(lease.nonce_attempt) THEN 'nonce_attempt'
        WHEN {t}is_no_count(lease.written_in) THEN 'written_in'
        WHEN {t}is_no_count(lease.granted_in) THEN 'granted_in'
        WHEN lease.ttl_us < 0 OR lease.ttl_us <> trunc(lease.ttl_us) THEN 'ttl_us'
        WHEN NOT (lease.asked ? 'nonce' AND lease.asked ? 'wish') THEN 'asked'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'BT001',
            MESSAGE = format('the lease of namespace %s', space),
            DETAIL = format('column %s of {t}locks is not as baton writes it', wrong);
    END IF;
    RETURN lease;
END
$fn$;

-- Is it anything but a number of 64 bits without a sign?
CREATE OR REPLACE FUNCTION {t}is_no_count(number numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $fn$
    SELECT NOT (number >= 0 AND number <= 18446744073709551615)
$fn$;

-- Is the lease at this version? {"epoch": …, "nonce": {"boot": …, "attempt": …}}
CREATE OR REPLACE FUNCTION {t}is_at(lease {t}locks, version jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $fn$
    SELECT coalesce(lease.epoch = (version->>'epoch')::numeric
        AND lease.nonce_boot = version->'nonce'->>'boot'
        AND lease.nonce_attempt = (version->'nonce'->>'attempt')::numeric, false)
$fn$;

-- Microseconds, as a reply shows them.
CREATE OR REPLACE FUNCTION {t}span(us numeric) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $fn$
    SELECT pg_catalog.jsonb_build_object(
        'secs', pg_catalog.div(us, 1000000), 'nanos', pg_catalog.mod(us, 1000000) * 1000)
$fn$;

-- How many microseconds after a moment another one comes; 0 if it does not.
CREATE OR REPLACE FUNCTION {t}us_after(moment timestamptz, later timestamptz) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $fn$
    SELECT greatest(0, pg_catalog.round(
        pg_catalog.date_part('epoch', later - moment)::numeric * 1000000))
$fn$;

-- The lease as a reply shows it; null if there is none.
CREATE OR REPLACE FUNCTION {t}show(lease {t}locks, at timestamptz) RETURNS jsonb
LANGUAGE sql STABLE AS $fn$
    SELECT CASE WHEN lease.lock_key IS NOT NULL THEN pg_catalog.jsonb_build_object(
        'version', pg_catalog.jsonb_build_object('epoch', lease.epoch, 'nonce',
            pg_catalog.jsonb_build_object(
                'boot', lease.nonce_boot, 'attempt', lease.nonce_attempt)),
        'holder', CASE WHEN lease.status = 1 THEN pg_catalog.jsonb_build_object(
            'node', lease.owner_id, 'boot', lease.owner_boot,
            'lifeline', lease.owner_lifeline) END,
        'successor', lease.successor,
        'ttl', {t}span(lease.ttl_us),
        'expiry', pg_catalog.jsonb_build_object('left', {t}span(
            -- Whatever is left is shown as a millisecond at least: nothing would mean over.
            CASE WHEN at >= lease.expires_at THEN 0
            ELSE greatest(1000, {t}us_after(at, lease.expires_at)) END)),
        'lineage', lease.written_in,
        'asked', lease.asked) END
$fn$;
