-- Writes documents, all or none, fenced if an epoch is given. Names differ. p_writes: JSON, a list of
-- [name in hexadecimal digits, does any version do, must it not exist, the version that it must have,
-- where in p_bodies its body begins, how many bytes that has].
--
-- outcome: 0 conflict, 1 written, 2 fenced. There is a row for each document that was written, in
-- order, with its new version; or one, for the first whose precondition does not hold.
--
-- Every write of documents locks the namespace: no document of it changes meanwhile.
CREATE PROCEDURE `{prefix}write_documents`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_writes LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    IN p_bodies LONGBLOB,
    IN p_fence BIGINT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_conflict INT UNSIGNED;
    DECLARE v_outcome TINYINT DEFAULT 0;
    {preamble}

    SELECT wanted.at INTO v_conflict
    FROM JSON_TABLE(p_writes, '$[*]' COLUMNS (
        at FOR ORDINALITY,
        name VARCHAR(8192) PATH '$[0]',
        takes_any TINYINT PATH '$[1]',
        takes_none TINYINT PATH '$[2]',
        version BIGINT UNSIGNED PATH '$[3]'
    )) AS wanted
    LEFT JOIN `{prefix}documents` AS known
        ON known.namespace = p_namespace AND known.name = UNHEX(wanted.name)
    WHERE NOT (wanted.takes_any OR (wanted.takes_none AND known.version IS NULL)
        OR COALESCE(known.version = wanted.version, 0))
    ORDER BY wanted.at LIMIT 1;
    IF p_fence < v_fence THEN
        SET v_outcome = 2, v_conflict = 1;
    ELSEIF v_conflict IS NULL THEN
        SET v_outcome = 1;
        INSERT INTO `{prefix}documents` (namespace, name, version, body, updated_at)
        SELECT p_namespace, UNHEX(wanted.name), 1,
               SUBSTRING(p_bodies, wanted.begins, wanted.bytes), UTC_TIMESTAMP(6)
        FROM JSON_TABLE(p_writes, '$[*]' COLUMNS (
            name VARCHAR(8192) PATH '$[0]',
            begins BIGINT UNSIGNED PATH '$[4]',
            bytes BIGINT UNSIGNED PATH '$[5]'
        )) AS wanted
        ON DUPLICATE KEY UPDATE version = `{prefix}documents`.version + 1, body = VALUES(body),
            updated_at = VALUES(updated_at);
        IF p_fence IS NOT NULL THEN
            UPDATE `{prefix}namespaces` SET fence = p_fence WHERE namespace = p_namespace;
        END IF;
    END IF;
    SELECT v_here AS lineage, v_outcome AS outcome, wanted.at AS at,
           COALESCE(known.version, 0) AS version
    FROM JSON_TABLE(p_writes, '$[*]' COLUMNS (
        at FOR ORDINALITY,
        name VARCHAR(8192) PATH '$[0]'
    )) AS wanted
    LEFT JOIN `{prefix}documents` AS known
        ON known.namespace = p_namespace AND known.name = UNHEX(wanted.name)
    WHERE v_outcome = 1 OR wanted.at = v_conflict ORDER BY wanted.at;
    COMMIT;
END
