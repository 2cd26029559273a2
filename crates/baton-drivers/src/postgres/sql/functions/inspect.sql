-- Everything an onlooker may see. Writes nothing, but for the lineage if the data went back: so it
-- shows the one that the next step is in.
CREATE OR REPLACE FUNCTION {t}inspect(
    space text, seen_lineage numeric, seen_lsn pg_lsn,
    OUT lease jsonb, OUT lineage text, OUT view text, OUT lsn pg_lsn
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    found_it {t}locks;
BEGIN
    lineage := {t}settle(seen_lineage, seen_lsn, false);
    found_it := {t}lease(space, false);
    lease := {t}show(found_it, clock_timestamp());
    SELECT body INTO view FROM {t}views WHERE namespace = space;
    lsn := pg_current_wal_flush_lsn();
END
$fn$;
