-- Begins a new term, if the record is as expected and the claim holds. p_claim: 0 vacant,
-- 1 expired, 2 its holder is dead. Only inside a step that has locked the namespace.
CREATE PROCEDURE `{prefix}acquire`(
    IN p_namespace {name},
    IN p_now DATETIME(6),
    IN p_here BIGINT UNSIGNED,
    IN p_born_in BIGINT UNSIGNED,
    IN p_fence BIGINT UNSIGNED,
    IN p_node {name},
    IN p_boot {boot},
    IN p_lifeline TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    IN p_expect_epoch BIGINT UNSIGNED,
    IN p_expect_boot {boot},
    IN p_expect_attempt BIGINT UNSIGNED,
    IN p_claim TINYINT,
    IN p_dead {boot},
    IN p_lineage BIGINT UNSIGNED,
    IN p_floor BIGINT UNSIGNED,
    IN p_nonce_boot {boot},
    IN p_nonce_attempt BIGINT UNSIGNED,
    IN p_ttl BIGINT UNSIGNED,
    OUT p_applied TINYINT
)
SQL SECURITY INVOKER
claim: BEGIN
    DECLARE v_epoch, v_attempt, v_granted_in, v_now_ms, v_ended_ms, v_silent_ms BIGINT UNSIGNED;
    DECLARE v_nonce, v_owner {boot};
    DECLARE v_held TINYINT;
    DECLARE v_expires, v_updated DATETIME(6);
    DECLARE v_next DECIMAL(65);
    DECLARE v_ended_by VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

    SET p_applied = 0;
    IF p_lineage <> p_here THEN
        LEAVE claim;
    END IF;
    SELECT epoch, nonce_boot, nonce_attempt, status = 1, owner_boot, expires_at, updated_at,
           granted_in
    INTO v_epoch, v_nonce, v_attempt, v_held, v_owner, v_expires, v_updated, v_granted_in
    FROM `{prefix}locks` WHERE lock_key = p_namespace FOR UPDATE;
    IF NOT (v_epoch <=> p_expect_epoch AND v_nonce <=> p_expect_boot
            AND v_attempt <=> p_expect_attempt) THEN
        LEAVE claim;
    END IF;

    SET v_now_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', p_now) DIV 1000;
    -- The holder could act until now, or until its lease ran out; it is only known to have acted
    -- until it last renewed it.
    SET v_ended_ms = v_now_ms - LEAST(v_now_ms,
        GREATEST(TIMESTAMPDIFF(MICROSECOND, v_expires, p_now), 0) DIV 1000);
    SET v_silent_ms = GREATEST(TIMESTAMPDIFF(MICROSECOND, v_updated, p_now), 0) DIV 1000;
    IF p_claim = 0 AND NOT COALESCE(v_held, 0) THEN
        SET v_ended_by = NULL;
    ELSEIF p_claim = 1 AND v_held AND p_now >= v_expires THEN
        SET v_ended_by = '"expired"';
    ELSEIF p_claim = 2 AND v_held AND v_owner = p_dead THEN
        SET v_ended_by = '"proved-dead"';
    ELSE
        LEAVE claim;
    END IF;

    -- Above all that was granted or written in here, all that the claimant has seen, and all that
    -- may have been granted and lost: a leap of 1,000 for each lineage since the last grant. In
    -- decimals, so that the highest number stays the highest instead of being an error.
    SET v_granted_in = COALESCE(v_granted_in, p_born_in);
    SET v_next = CAST(COALESCE(v_epoch, 0) AS DECIMAL(65))
        + 1000 * CAST(p_here - LEAST(v_granted_in, p_here) AS DECIMAL(65));
    SET v_next = LEAST(GREATEST(v_next, p_floor, p_fence) + 1, 18446744073709551615);

    CALL `{prefix}begin_term`(
        p_namespace, v_next, p_node, p_boot, v_now_ms, v_ended_ms, v_ended_by, v_silent_ms);
    IF v_epoch IS NULL THEN
        INSERT INTO `{prefix}locks` (lock_key, expires_at, epoch, status, created_at, updated_at,
            nonce_boot, nonce_attempt, ttl, written_in, granted_in)
        VALUES (p_namespace, p_now, 0, 0, p_now, p_now, p_nonce_boot, 0, 0, p_here, p_here);
    END IF;
    UPDATE `{prefix}locks`
    SET epoch = v_next, nonce_boot = p_nonce_boot, nonce_attempt = p_nonce_attempt,
        status = 1, owner_id = p_node, owner_boot = p_boot, owner_lifeline = p_lifeline,
        successor = NULL, asked = NULL, ttl = p_ttl,
        expires_at = p_now + INTERVAL LEAST(p_ttl, 3155760000000000) MICROSECOND,
        written_in = p_here, granted_in = p_here, updated_at = p_now
    WHERE lock_key = p_namespace;
    SET p_applied = 1;
END
