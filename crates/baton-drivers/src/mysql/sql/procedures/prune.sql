-- Old records go: nodes that were silent for long, then terms beyond those that are kept. pruned is
-- NULL if a later epoch is known.
CREATE PROCEDURE `{prefix}prune`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_fence BIGINT UNSIGNED,
    IN p_dead_s BIGINT UNSIGNED,
    IN p_dead_us BIGINT UNSIGNED,
    IN p_keep BIGINT UNSIGNED,
    IN p_most BIGINT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_newest BIGINT UNSIGNED;
    DECLARE v_pruned BIGINT UNSIGNED;
    DECLARE v_before DATETIME(6);
    {preamble}

    IF p_fence >= v_fence THEN
        SET v_before = UTC_TIMESTAMP(6) - INTERVAL p_dead_s SECOND - INTERVAL p_dead_us MICROSECOND;
        DELETE FROM `{prefix}nodes` WHERE namespace = p_namespace AND beat_at <= v_before
        ORDER BY node_id LIMIT p_most;
        SET v_pruned = ROW_COUNT();
        SELECT seq INTO v_newest
        FROM `{prefix}terms` WHERE namespace = p_namespace ORDER BY seq DESC LIMIT 1 OFFSET p_keep;
        IF v_newest IS NOT NULL AND v_pruned < p_most THEN
            SET p_most = p_most - v_pruned;
            DELETE FROM `{prefix}terms` WHERE namespace = p_namespace AND seq <= v_newest
            ORDER BY seq LIMIT p_most;
            SET v_pruned = v_pruned + ROW_COUNT();
        END IF;
        IF v_pruned > 0 THEN
            UPDATE `{prefix}namespaces` SET fence = p_fence WHERE namespace = p_namespace;
        END IF;
    END IF;
    SELECT v_here AS lineage, v_pruned AS pruned;
    COMMIT;
END
