-- Publishes a view, unless a later epoch is known or this term has published a later one.
CREATE PROCEDURE `{prefix}publish_view`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_fence BIGINT UNSIGNED,
    IN p_epoch BIGINT UNSIGNED,
    IN p_number BIGINT UNSIGNED,
    IN p_body LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_epoch, v_number BIGINT UNSIGNED;
    DECLARE v_applied TINYINT DEFAULT 0;
    {preamble}

    SELECT epoch, number INTO v_epoch, v_number
    FROM `{prefix}views` WHERE namespace = p_namespace FOR UPDATE;
    SET v_applied = p_fence >= v_fence
        AND NOT (v_epoch <=> p_epoch AND v_number >= p_number);
    IF v_applied THEN
        IF v_epoch IS NULL THEN
            INSERT INTO `{prefix}views` (namespace, epoch, number, body)
            VALUES (p_namespace, p_epoch, p_number, p_body);
        ELSE
            UPDATE `{prefix}views` SET epoch = p_epoch, number = p_number, body = p_body
            WHERE namespace = p_namespace;
        END IF;
        UPDATE `{prefix}namespaces` SET fence = p_fence WHERE namespace = p_namespace;
    END IF;
    SELECT v_here AS lineage, v_applied AS applied;
    COMMIT;
END
