-- Takes a node's record out, if it is still this boot's.
CREATE OR REPLACE FUNCTION {t}leave(
    space text, seen_lineage numeric, seen_lsn pg_lsn, node text, its_boot text
) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    PERFORM {t}settle(seen_lineage, seen_lsn, false);
    DELETE FROM {t}nodes WHERE namespace = space AND node_id = node AND boot = its_boot;
    RETURN CASE WHEN FOUND THEN 'applied' ELSE 'conflict' END;
END
$fn$;
