-- What programs of version 4 call: a batch of one. They find what they expect in its row.
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
    CALL `{prefix}write_documents`(p_namespace, p_seen_lineage,
        JSON_ARRAY(JSON_ARRAY(HEX(p_name), p_wants_any, p_wants_absent, p_wants_version,
                              1, LENGTH(p_body))),
        p_body, p_fence);
END
