-- The namespace, which begins now if it was never written to. With `hold`, no other step grants or
-- fences in it until this step is done.
CREATE OR REPLACE FUNCTION {t}space(space text, lineage numeric, hold boolean)
RETURNS {t}namespaces LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    found_it {t}namespaces;
BEGIN
    SELECT * INTO found_it FROM {t}namespaces WHERE namespace = space;
    IF NOT FOUND THEN
        INSERT INTO {t}namespaces (namespace, born_in, fence, created_at)
            VALUES (space, lineage, 0, clock_timestamp())
            ON CONFLICT (namespace) DO NOTHING;
    END IF;
    IF hold THEN
        SELECT * INTO STRICT found_it FROM {t}namespaces WHERE namespace = space FOR UPDATE;
    END IF;
    RETURN found_it;
END
$fn$;
