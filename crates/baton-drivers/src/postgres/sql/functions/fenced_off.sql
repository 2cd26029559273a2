-- The first thing that a fenced write does: settles the lineage, locks the namespace, and says whether
-- a later epoch is known. A write that carries no epoch is never fenced off, and locks nothing.
--
-- The namespace is locked until the call is done, and so no epoch can be granted meanwhile; the lease
-- itself is not, and so a renewal does not wait.
CREATE OR REPLACE FUNCTION {t}is_fenced_off(
    space text, seen_lineage numeric, seen_lsn pg_lsn, fenced_by numeric
) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    lineage numeric := {t}settle(seen_lineage, seen_lsn, false);
    home    {t}namespaces := {t}space(space, lineage, fenced_by IS NOT NULL);
    lease   {t}locks;
BEGIN
    IF fenced_by IS NULL THEN
        RETURN false;
    END IF;
    lease := {t}lease(space, false);
    RETURN fenced_by < greatest(home.fence, coalesce(lease.epoch, 0));
END
$fn$;
