-- Goes on with a term, if the record is as expected and has not expired by the server's clock. Only
-- inside a step that has locked the namespace.
CREATE PROCEDURE `{prefix}renew`(
    IN p_namespace {name},
    IN p_now DATETIME(6),
    IN p_here BIGINT UNSIGNED,
    IN p_expect_epoch BIGINT UNSIGNED,
    IN p_expect_boot {boot},
    IN p_expect_attempt BIGINT UNSIGNED,
    IN p_lineage BIGINT UNSIGNED,
    IN p_nonce_boot {boot},
    IN p_nonce_attempt BIGINT UNSIGNED,
    IN p_ttl BIGINT UNSIGNED,
    OUT p_applied TINYINT
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_goes_on TINYINT DEFAULT 0;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_goes_on = 0;
    SELECT epoch = p_expect_epoch AND nonce_boot = p_expect_boot
           AND nonce_attempt = p_expect_attempt AND status = 1 AND expires_at > p_now
    INTO v_goes_on FROM `{prefix}locks` WHERE lock_key = p_namespace FOR UPDATE;
    SET p_applied = v_goes_on AND p_lineage = p_here;
    IF p_applied THEN
        UPDATE `{prefix}locks`
        SET nonce_boot = p_nonce_boot, nonce_attempt = p_nonce_attempt, ttl = p_ttl,
            expires_at = p_now + INTERVAL LEAST(p_ttl, 3155760000000000) MICROSECOND,
            written_in = p_here, updated_at = p_now
        WHERE lock_key = p_namespace;
    END IF;
END
