-- Gives the lease up: clears the holder, keeps the row and its epoch, and closes the term.
CREATE PROCEDURE `{prefix}release`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_expect_epoch BIGINT UNSIGNED,
    IN p_expect_boot {boot},
    IN p_expect_attempt BIGINT UNSIGNED,
    IN p_nonce_boot {boot},
    IN p_nonce_attempt BIGINT UNSIGNED,
    IN p_successor {name},
    IN p_ended_by VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_seq, v_epoch BIGINT UNSIGNED;
    DECLARE v_held TINYINT DEFAULT 0;
    DECLARE v_now, v_expires DATETIME(6);
    {preamble}

    CALL `{prefix}sound`(p_namespace);
    SELECT epoch = p_expect_epoch AND nonce_boot = p_expect_boot
           AND nonce_attempt = p_expect_attempt AND status = 1, expires_at
    INTO v_held, v_expires FROM `{prefix}locks` WHERE lock_key = p_namespace FOR UPDATE;
    SET v_now = UTC_TIMESTAMP(6);
    IF v_held THEN
        UPDATE `{prefix}locks`
        SET status = 0, owner_id = NULL, owner_boot = NULL, owner_lifeline = NULL,
            nonce_boot = p_nonce_boot, nonce_attempt = p_nonce_attempt,
            successor = p_successor, asked = NULL, expires_at = v_now, updated_at = v_now
        WHERE lock_key = p_namespace;
        SELECT seq, epoch INTO v_seq, v_epoch
        FROM `{prefix}terms` WHERE namespace = p_namespace ORDER BY seq DESC LIMIT 1;
        IF v_epoch = p_expect_epoch THEN
            UPDATE `{prefix}terms`
            -- A holder whose lease ran out before this could not act after that.
            SET ended_ms = TIMESTAMPDIFF(
                    MICROSECOND, '1970-01-01 00:00:00', LEAST(v_now, v_expires)) DIV 1000,
                ended_by = p_ended_by
            WHERE seq = v_seq;
        END IF;
    END IF;
    SELECT v_here AS lineage, v_held AS applied;
    COMMIT;
END
