-- Appends changes of counters, unless the writer has appended this number or a higher one. Locks the
-- writer's own row and nothing else. p_deltas: JSON, a list of [name in hexadecimal digits, is_set,
-- amount].
CREATE PROCEDURE `{prefix}append_deltas`(
    IN p_namespace {name},
    IN p_writer {boot},
    IN p_number BIGINT UNSIGNED,
    IN p_deltas LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_last BIGINT UNSIGNED;
    {handlers}

    START TRANSACTION;
    INSERT INTO `{prefix}counter_writers` (namespace, writer, last, appended_at)
    VALUES (p_namespace, p_writer, 0, UTC_TIMESTAMP(6))
    ON DUPLICATE KEY UPDATE last = last;
    SELECT last INTO v_last FROM `{prefix}counter_writers`
    WHERE namespace = p_namespace AND writer = p_writer FOR UPDATE;
    IF v_last < p_number THEN
        UPDATE `{prefix}counter_writers` SET last = p_number, appended_at = UTC_TIMESTAMP(6)
        WHERE namespace = p_namespace AND writer = p_writer;
        INSERT INTO `{prefix}counter_deltas` (namespace, name, is_set, amount)
        SELECT p_namespace, UNHEX(delta.name), delta.is_set, delta.amount
        FROM JSON_TABLE(p_deltas, '$[*]' COLUMNS (
            at FOR ORDINALITY,
            name VARCHAR(400) PATH '$[0]',
            is_set TINYINT PATH '$[1]',
            amount BIGINT PATH '$[2]'
        )) AS delta ORDER BY delta.at;
    END IF;
    COMMIT;
END
