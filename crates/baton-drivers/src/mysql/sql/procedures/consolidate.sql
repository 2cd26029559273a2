-- Applies the oldest pending changes, up to a limit, and takes them out, in one step; unless a later
-- epoch is known. outcome: 1 done, 2 fenced.
--
-- A change may commit while this runs, with a lower number than the highest seen: so what is applied
-- is what this step has marked, and what it deletes is that too.
CREATE PROCEDURE `{prefix}consolidate`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_fence BIGINT UNSIGNED,
    IN p_limit INT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_upto BIGINT UNSIGNED;
    DECLARE v_applied INT UNSIGNED DEFAULT 0;
    DECLARE v_more, v_outcome TINYINT DEFAULT 0;
    {preamble}

    IF p_fence < v_fence THEN
        SET v_outcome = 2;
    ELSE
        SET v_outcome = 1;
        SELECT MAX(due.seq) INTO v_upto FROM (
            SELECT seq FROM `{prefix}counter_deltas`
            WHERE namespace = p_namespace ORDER BY seq LIMIT p_limit) AS due;
        UPDATE `{prefix}counter_deltas` SET taken = 1
        WHERE namespace = p_namespace AND seq <= v_upto ORDER BY seq LIMIT p_limit;
        SELECT COUNT(*) INTO v_applied FROM `{prefix}counter_deltas`
        WHERE namespace = p_namespace AND seq <= v_upto AND taken = 1;
        INSERT INTO `{prefix}counters` (namespace, name, value, overflowed, updated_at)
        SELECT p_namespace, result.name,
               LEAST(GREATEST(result.total, -9223372036854775808), 9223372036854775807),
               result.is_over OR result.total NOT BETWEEN -9223372036854775808
                   AND 9223372036854775807,
               UTC_TIMESTAMP(6)
        FROM (
            SELECT due.name,
                   COALESCE(MAX(IF(due.seq = since.seq, due.amount, NULL)), MAX(known.value), 0)
                       + SUM(CAST(IF(due.seq > COALESCE(since.seq, 0), due.amount, 0)
                             AS DECIMAL(65))) AS total,
                   MAX(since.seq) IS NULL AND COALESCE(MAX(known.overflowed), 0) AS is_over
            FROM `{prefix}counter_deltas` AS due
            LEFT JOIN (
                SELECT name, MAX(seq) AS seq FROM `{prefix}counter_deltas`
                WHERE namespace = p_namespace AND seq <= v_upto AND taken = 1 AND is_set = 1
                GROUP BY name) AS since ON since.name = due.name
            LEFT JOIN `{prefix}counters` AS known
                ON known.namespace = p_namespace AND known.name = due.name
            WHERE due.namespace = p_namespace AND due.seq <= v_upto AND due.taken = 1
            GROUP BY due.name) AS result
        ON DUPLICATE KEY UPDATE value = VALUES(value), overflowed = VALUES(overflowed),
            updated_at = VALUES(updated_at);
        DELETE FROM `{prefix}counter_deltas`
        WHERE namespace = p_namespace AND seq <= v_upto AND taken = 1;
        SELECT EXISTS (SELECT 1 FROM `{prefix}counter_deltas` WHERE namespace = p_namespace)
        INTO v_more;
        UPDATE `{prefix}namespaces` SET fence = p_fence WHERE namespace = p_namespace;
    END IF;
    SELECT v_here AS lineage, v_outcome AS outcome, v_applied AS applied, v_more AS more;
    COMMIT;
END
