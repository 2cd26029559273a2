-- Refuses to go on if the lease is not a record of ours. It is left as it is.
CREATE PROCEDURE `{prefix}sound`(IN p_namespace {name})
SQL SECURITY INVOKER
BEGIN
    DECLARE v_sound TINYINT DEFAULT 1;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_sound = 1;
    SELECT nonce_boot REGEXP '^[0-9a-f]{32}$' AND (
               (status = 1 AND owner_id IS NOT NULL
                   AND COALESCE(owner_boot REGEXP '^[0-9a-f]{32}$', 0))
               OR (status = 0 AND owner_id IS NULL AND owner_boot IS NULL))
    INTO v_sound FROM `{prefix}locks` WHERE lock_key = p_namespace;
    IF NOT v_sound THEN
        SIGNAL SQLSTATE 'BT001' SET MYSQL_ERRNO = 31901,
            MESSAGE_TEXT = 'its status, owner and nonce do not go together';
    END IF;
END
