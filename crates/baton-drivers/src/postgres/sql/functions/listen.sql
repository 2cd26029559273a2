-- The channel of a namespace's hints. A channel's name has at most 63 bytes, a namespace's 128.
CREATE OR REPLACE FUNCTION {t}channel(space text) RETURNS text LANGUAGE sql IMMUTABLE AS $fn$
    SELECT 'baton_' || pg_catalog.md5('{t}' || space)
$fn$;

-- Subscribes this session to the hints of a namespace; the channel that they come on.
CREATE OR REPLACE FUNCTION {t}listen(space text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    EXECUTE format('LISTEN %I', {t}channel(space));
    RETURN {t}channel(space);
END
$fn$;
