-- Locks the namespace until the step ends; it begins now if it was never written to. An INSERT that
-- updates locks a row that is there for writing, where INSERT IGNORE would share it and deadlock.
CREATE PROCEDURE `{prefix}enter`(
    IN p_namespace {name},
    IN p_lineage BIGINT UNSIGNED,
    OUT p_born_in BIGINT UNSIGNED,
    OUT p_fence BIGINT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET p_born_in = NULL;
    SELECT born_in, fence INTO p_born_in, p_fence
    FROM `{prefix}namespaces` WHERE namespace = p_namespace FOR UPDATE;
    IF p_born_in IS NULL THEN
        INSERT INTO `{prefix}namespaces` (namespace, born_in, fence, created_at)
        VALUES (p_namespace, p_lineage, 0, UTC_TIMESTAMP(6))
        ON DUPLICATE KEY UPDATE born_in = born_in;
        SELECT born_in, fence INTO p_born_in, p_fence
        FROM `{prefix}namespaces` WHERE namespace = p_namespace FOR UPDATE;
    END IF;
END
