-- The first thing that a step does: which lineage is it in?
--
-- The data may have gone back to an older copy if
--   * the identity is another one than is written here: the system identifier (a dump came to
--     another server), the timeline (a replica was promoted, a backup recovered; the log file's
--     name shows it at once), the database or the table (a dump came back to the same server);
--   * the caller has seen a later lineage than is written here;
--   * the caller has seen, in this lineage, a log position that this server has not reached: a
--     snapshot of the disk was put back. Only what was flushed is shown to callers, and a crash
--     takes none of that.
-- Then a new lineage begins in this very step. It is the time in milliseconds, so that the same
-- copy, back for the second time, begins another one.
--
-- `hold`: the lineage may not move until this step is done. A grant asks for that.
CREATE OR REPLACE FUNCTION {t}settle(seen_lineage numeric, seen_lsn pg_lsn, hold boolean)
RETURNS numeric LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    known {t}meta;
    here  text;
BEGIN
    -- An acknowledged grant must outlast a crash, whatever the session has set.
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    here := {t}identity();
    SELECT * INTO STRICT known FROM {t}meta;
    IF {t}went_back(known, here, seen_lineage, seen_lsn) THEN
        SELECT * INTO STRICT known FROM {t}meta FOR UPDATE;
        -- Another step may have been first.
        IF {t}went_back(known, here, seen_lineage, seen_lsn) THEN
            UPDATE {t}meta
                SET identity = here,
                    lineage = least(greatest(lineage + 1, seen_lineage + 1,
                                             {t}ms(clock_timestamp())), 18446744073709551615)
                RETURNING * INTO known;
        END IF;
    ELSIF hold THEN
        SELECT * INTO STRICT known FROM {t}meta FOR SHARE;
    END IF;
    RETURN known.lineage;
END
$fn$;
