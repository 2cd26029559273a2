-- What tells this server's line of history from another's: see settle.
CREATE OR REPLACE FUNCTION {t}identity() RETURNS text
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $fn$
    SELECT control.system_identifier::text
        || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
        || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())::text
        || '/' || '{t}meta'::regclass::oid::text
    FROM pg_control_system() AS control
$fn$;

CREATE OR REPLACE FUNCTION {t}went_back(
    known {t}meta, here text, seen_lineage numeric, seen_lsn pg_lsn
) RETURNS boolean LANGUAGE sql VOLATILE AS $fn$
    SELECT known.identity <> here
        OR seen_lineage > known.lineage
        OR (seen_lineage = known.lineage AND seen_lsn > pg_catalog.pg_current_wal_flush_lsn())
$fn$;

-- Unix milliseconds.
CREATE OR REPLACE FUNCTION {t}ms(at timestamptz) RETURNS numeric LANGUAGE sql STABLE AS $fn$
    SELECT pg_catalog.floor(pg_catalog.date_part('epoch', at) * 1000)::numeric
$fn$;
