-- What version 3 adds: a secret in the names of the channels that hints come on. Any role may send
-- to a channel whose name it knows; only one that may read {t}meta knows these.

-- A text that cannot be guessed. Before version 13 the server has no such function of its own, and
-- what its ordinary random numbers give must do.
CREATE FUNCTION {t}secret() RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    RETURN gen_random_uuid();
EXCEPTION WHEN undefined_function THEN
    RETURN md5(random()::text || random()::text || clock_timestamp()::text || pg_backend_pid());
END
$fn$;

ALTER TABLE {t}meta ADD COLUMN hint_secret text NOT NULL DEFAULT {t}secret();
