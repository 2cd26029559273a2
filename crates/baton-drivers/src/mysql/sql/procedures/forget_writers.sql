-- Forgets writers that have appended nothing for this many microseconds, up to a limit; unless a later
-- epoch is known. outcome: 1 done, 2 fenced.
CREATE PROCEDURE `{prefix}forget_writers`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_fence BIGINT UNSIGNED,
    IN p_silent_us BIGINT UNSIGNED,
    IN p_limit INT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_applied INT UNSIGNED DEFAULT 0;
    DECLARE v_outcome TINYINT DEFAULT 0;
    {preamble}

    IF p_fence < v_fence THEN
        SET v_outcome = 2;
    ELSE
        SET v_outcome = 1;
        DELETE FROM `{prefix}counter_writers`
        WHERE namespace = p_namespace
          AND appended_at <= UTC_TIMESTAMP(6) - INTERVAL p_silent_us MICROSECOND
        LIMIT p_limit;
        SET v_applied = ROW_COUNT();
        UPDATE `{prefix}namespaces` SET fence = p_fence WHERE namespace = p_namespace;
    END IF;
    SELECT v_here AS lineage, v_outcome AS outcome, v_applied AS applied, 0 AS more;
    COMMIT;
END
