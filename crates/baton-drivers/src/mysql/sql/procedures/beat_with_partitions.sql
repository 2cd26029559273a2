-- One beat: the node record, the lease, and the view if it moved. p_intent: 0 looks, 1 acquires,
-- 2 renews. A beat that only looks locks nothing but its own node's row, so that followers neither
-- wait for the leader nor hold it up; it may leave even that as it is, and costs no flush then.
-- p_partitions: what the node says of its partitions, as JSON, or NULL.
CREATE PROCEDURE `{prefix}beat_with_partitions`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_node {name},
    IN p_boot {boot},
    IN p_beat BIGINT UNSIGNED,
    IN p_eligible TINYINT,
    IN p_draining TINYINT,
    IN p_job_count INT UNSIGNED,
    IN p_seen BIGINT UNSIGNED,
    IN p_profile MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    IN p_partitions MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    IN p_lifeline TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    IN p_replaces {boot},
    IN p_leave TINYINT,
    IN p_view_epoch BIGINT UNSIGNED,
    IN p_view_number BIGINT UNSIGNED,
    IN p_intent TINYINT,
    IN p_expect_epoch BIGINT UNSIGNED,
    IN p_expect_boot {boot},
    IN p_expect_attempt BIGINT UNSIGNED,
    IN p_claim TINYINT,
    IN p_dead {boot},
    IN p_lineage BIGINT UNSIGNED,
    IN p_floor BIGINT UNSIGNED,
    IN p_nonce_boot {boot},
    IN p_nonce_attempt BIGINT UNSIGNED,
    IN p_ttl BIGINT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_here, v_born_in, v_fence, v_known_beat BIGINT UNSIGNED;
    DECLARE v_known_boot {boot};
    DECLARE v_taken, v_applied TINYINT;
    DECLARE v_now DATETIME(6);
    {handlers}

    START TRANSACTION;
    CALL `{prefix}settle`(p_seen_lineage, p_intent <> 0, v_here);
    IF p_intent = 0 THEN
        SELECT boot, beat INTO v_known_boot, v_known_beat
        FROM `{prefix}nodes` WHERE namespace = p_namespace AND node_id = p_node FOR UPDATE;
    END IF;
    IF v_known_boot IS NULL THEN
        CALL `{prefix}enter`(p_namespace, v_here, v_born_in, v_fence);
        SELECT boot, beat INTO v_known_boot, v_known_beat
        FROM `{prefix}nodes` WHERE namespace = p_namespace AND node_id = p_node FOR UPDATE;
    END IF;
    CALL `{prefix}sound`(p_namespace);
    -- Every lock is held by now: the time is read after the last wait.
    SET v_now = UTC_TIMESTAMP(6);

    SET v_taken = COALESCE(
        v_known_boot <> p_boot AND NOT (v_known_boot <=> p_replaces), 0);
    IF v_known_boot IS NULL THEN
        INSERT INTO `{prefix}nodes` (namespace, node_id, boot, beat, eligible, draining, job_count,
            seen, profile, partitions, beat_at)
        VALUES (p_namespace, p_node, p_boot, p_beat, p_eligible, p_draining, p_job_count,
            p_seen, p_profile, p_partitions, v_now);
    ELSEIF NOT v_taken AND NOT (p_leave AND v_known_boot = p_boot) THEN
        UPDATE `{prefix}nodes`
        SET boot = p_boot, beat = p_beat, eligible = p_eligible, draining = p_draining,
            job_count = p_job_count, seen = p_seen, profile = p_profile,
            partitions = p_partitions, beat_at = v_now
        WHERE namespace = p_namespace AND node_id = p_node;
    END IF;

    IF p_intent = 1 AND NOT v_taken THEN
        CALL `{prefix}acquire`(p_namespace, v_now, v_here, v_born_in, v_fence,
            p_node, p_boot, p_lifeline, p_expect_epoch, p_expect_boot, p_expect_attempt,
            p_claim, p_dead, p_lineage, p_floor, p_nonce_boot, p_nonce_attempt, p_ttl, v_applied);
    ELSEIF p_intent = 2 AND NOT v_taken THEN
        CALL `{prefix}renew`(p_namespace, v_now, v_here, p_expect_epoch, p_expect_boot,
            p_expect_attempt, p_lineage, p_nonce_boot, p_nonce_attempt, p_ttl, v_applied);
    END IF;

    SELECT v_here AS lineage, v_applied AS applied,
           IF(v_taken, v_known_boot, NULL) AS taken_boot,
           IF(v_taken, v_known_beat, NULL) AS taken_beat,
           l.epoch, l.nonce_boot, l.nonce_attempt, l.status, l.owner_id, l.owner_boot,
           l.owner_lifeline, l.successor, l.ttl, l.written_in, l.asked,
           TIMESTAMPDIFF(MICROSECOND, v_now, l.expires_at) AS left_us,
           w.body AS view_body
    FROM (SELECT 1 AS one) AS always
    LEFT JOIN `{prefix}locks` AS l ON l.lock_key = p_namespace
    LEFT JOIN `{prefix}views` AS w ON w.namespace = p_namespace
        AND (w.epoch > p_view_epoch OR (w.epoch = p_view_epoch AND w.number > p_view_number));
    COMMIT;
END
