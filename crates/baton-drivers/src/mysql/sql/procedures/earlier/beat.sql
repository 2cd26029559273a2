-- What programs of version 4 call: the beat of a node that says nothing of partitions.
CREATE PROCEDURE `{prefix}beat`(
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
    CALL `{prefix}beat_with_partitions`(
        p_namespace, p_seen_lineage, p_node, p_boot, p_beat, p_eligible, p_draining, p_job_count,
        p_seen, p_profile, NULL, p_lifeline, p_replaces, p_leave, p_view_epoch, p_view_number,
        p_intent, p_expect_epoch, p_expect_boot, p_expect_attempt, p_claim, p_dead, p_lineage,
        p_floor, p_nonce_boot, p_nonce_attempt, p_ttl);
END
