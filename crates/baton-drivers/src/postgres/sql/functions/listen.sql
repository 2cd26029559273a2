-- The channel of a namespace's hints, which a role that may not read the secret cannot name. A
-- channel's name has at most 63 bytes, a namespace's 128.
CREATE OR REPLACE FUNCTION {t}channel(space text) RETURNS text LANGUAGE sql STABLE AS $fn$
    SELECT 'baton_' || pg_catalog.md5(hint_secret || '{t}' || space) FROM {t}meta
$fn$;

-- Subscribes this session to the hints of a namespace; the channel that they come on.
CREATE OR REPLACE FUNCTION {t}listen(space text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    EXECUTE format('LISTEN %I', {t}channel(space));
    RETURN {t}channel(space);
END
$fn$;
