-- Writes a document, fenced if an epoch is given. One of the three p_wants says what must hold.
-- outcome: 0 conflict, 1 written, 2 fenced.
CREATE PROCEDURE `{prefix}write_document`(
    IN p_namespace {name},
    IN p_seen_lineage BIGINT UNSIGNED,
    IN p_name VARBINARY(4096),
    IN p_body LONGBLOB,
    IN p_wants_any TINYINT,
    IN p_wants_absent TINYINT,
    IN p_wants_version BIGINT UNSIGNED,
    IN p_fence BIGINT UNSIGNED
)
SQL SECURITY INVOKER
BEGIN
    DECLARE v_version BIGINT UNSIGNED;
    DECLARE v_outcome TINYINT DEFAULT 0;
    {preamble}

    SELECT version INTO v_version
    FROM `{prefix}documents` WHERE namespace = p_namespace AND name = p_name FOR UPDATE;
    IF p_fence < v_fence THEN
        SET v_outcome = 2;
    ELSEIF p_wants_any OR (p_wants_absent AND v_version IS NULL) OR v_version = p_wants_version THEN
        SET v_outcome = 1;
        IF v_version IS NULL THEN
            INSERT INTO `{prefix}documents` (namespace, name, version, body, updated_at)
            VALUES (p_namespace, p_name, 1, p_body, UTC_TIMESTAMP(6));
        ELSE
            UPDATE `{prefix}documents`
            SET version = v_version + 1, body = p_body, updated_at = UTC_TIMESTAMP(6)
            WHERE namespace = p_namespace AND name = p_name;
        END IF;
        SET v_version = COALESCE(v_version, 0) + 1;
        IF p_fence IS NOT NULL THEN
            UPDATE `{prefix}namespaces` SET fence = p_fence WHERE namespace = p_namespace;
        END IF;
    END IF;
    SELECT v_here AS lineage, v_outcome AS outcome, COALESCE(v_version, 0) AS version;
    COMMIT;
END
