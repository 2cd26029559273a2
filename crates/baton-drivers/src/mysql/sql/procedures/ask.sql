-- Leaves a request to the holder of this epoch beside the lease.
CREATE PROCEDURE `{prefix}ask`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_epoch BIGINT UNSIGNED,
    IN p_asked TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_held TINYINT DEFAULT 0;
    {preamble}

    CALL `{prefix}sound`(p_namespace);
    SELECT epoch = p_epoch AND status = 1
    INTO v_held FROM `{prefix}locks` WHERE lock_key = p_namespace FOR UPDATE;
    IF v_held THEN
        UPDATE `{prefix}locks` SET asked = p_asked WHERE lock_key = p_namespace;
    END IF;
    SELECT v_here AS lineage, v_held AS applied;
    COMMIT;
END
