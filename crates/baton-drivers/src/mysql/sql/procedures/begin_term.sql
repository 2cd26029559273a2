-- A term begins; the last one, if it is still open, ended when and as given, and its holder was
-- silent this long by now. The last 1,000 are kept.
CREATE PROCEDURE `{prefix}begin_term`(
    IN p_namespace {name},
    IN p_epoch BIGINT UNSIGNED,
    IN p_node {name},
    IN p_boot {boot},
    IN p_now_ms BIGINT UNSIGNED,
    IN p_ended_ms BIGINT UNSIGNED,
    IN p_ended_by VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    IN p_silent_ms BIGINT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_seq, v_ended, v_at_most, v_forget BIGINT UNSIGNED;
    DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
    SELECT seq, ended_ms INTO v_seq, v_ended
    FROM `{prefix}terms` WHERE namespace = p_namespace ORDER BY seq DESC LIMIT 1;
    IF v_seq IS NOT NULL AND v_ended IS NULL AND p_ended_by IS NOT NULL THEN
        UPDATE `{prefix}terms` SET ended_ms = p_ended_ms, ended_by = p_ended_by WHERE seq = v_seq;
        SET v_ended = p_ended_ms;
        SET v_at_most = p_silent_ms;
    END IF;
    INSERT INTO `{prefix}terms` (namespace, epoch, node_id, boot, began_ms, gap_ms,
        gap_at_most_ms)
    VALUES (p_namespace, p_epoch, p_node, p_boot, p_now_ms, p_now_ms - LEAST(v_ended, p_now_ms),
        v_at_most);
    SELECT seq INTO v_forget
    FROM `{prefix}terms` WHERE namespace = p_namespace ORDER BY seq DESC LIMIT 1 OFFSET 1000;
    IF v_forget IS NOT NULL THEN
        DELETE FROM `{prefix}terms` WHERE namespace = p_namespace AND seq <= v_forget;
    END IF;
END
