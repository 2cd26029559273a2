-- Which lineage a step is in; a new one begins here if the data is not this server's own, or if the
-- caller has seen a later one. p_share holds the answer until the step ends, so that no other step
-- begins a lineage meanwhile. The server is asked who it is in the very step that writes: a proxy
-- or a failover between two steps is noticed by the second.
CREATE PROCEDURE `{prefix}settle`(
    IN p_seen BIGINT UNSIGNED,
    IN p_share TINYINT,
    OUT p_lineage BIGINT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_identity, v_known VARCHAR(2048) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_now_ms BIGINT UNSIGNED;
    SET v_identity = {identity};
    SET p_lineage = NULL;
    SELECT lineage, identity INTO p_lineage, v_known FROM `{prefix}meta` WHERE one = 1;
    IF p_share AND v_known = v_identity AND p_lineage >= p_seen THEN
        SELECT lineage, identity INTO p_lineage, v_known
        FROM `{prefix}meta` WHERE one = 1 LOCK IN SHARE MODE;
    END IF;
    IF p_lineage IS NULL THEN
        SIGNAL SQLSTATE 'BT002' SET MYSQL_ERRNO = 31902, MESSAGE_TEXT = 'it has no row';
    END IF;
    IF v_known <> v_identity OR p_lineage < p_seen THEN
        SELECT lineage, identity INTO p_lineage, v_known
        FROM `{prefix}meta` WHERE one = 1 FOR UPDATE;
    END IF;
    IF v_known <> v_identity OR p_lineage < p_seen THEN
        SET v_now_ms =
            TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000;
        SET p_lineage = LEAST(
            GREATEST(CAST(p_lineage AS DECIMAL(65)) + 1, CAST(p_seen AS DECIMAL(65)) + 1, v_now_ms),
            18446744073709551615);
        UPDATE `{prefix}meta` SET lineage = p_lineage, identity = v_identity WHERE one = 1;
    END IF;
END
