-- Takes a node's record out, if it is still this boot's.
CREATE PROCEDURE `{prefix}leave`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_node {name},
    IN p_boot {boot}
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_own TINYINT DEFAULT 0;
    {preamble}

    SELECT boot = p_boot INTO v_own
    FROM `{prefix}nodes` WHERE namespace = p_namespace AND node_id = p_node FOR UPDATE;
    IF v_own THEN
        DELETE FROM `{prefix}nodes` WHERE namespace = p_namespace AND node_id = p_node;
    END IF;
    SELECT v_here AS lineage, v_own AS applied;
    COMMIT;
END
