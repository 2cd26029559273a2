-- What version 2 adds: counters. Names of counters are bytes, as those of documents.

-- What the leader has consolidated. Written under the namespace's row.
CREATE TABLE IF NOT EXISTS `{prefix}counters` (
    namespace  {name}           NOT NULL,
    name       VARBINARY(200)   NOT NULL,
    value      BIGINT           NOT NULL,
    overflowed TINYINT UNSIGNED NOT NULL,
    updated_at DATETIME(6)      NOT NULL,
    PRIMARY KEY (namespace, name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What is pending, in the order of seq. taken: by the step that applies it, which also deletes it; no
-- other transaction ever sees it set.
CREATE TABLE IF NOT EXISTS `{prefix}counter_deltas` (
    seq       BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT,
    namespace {name}           NOT NULL,
    name      VARBINARY(200)   NOT NULL,
    is_set    TINYINT UNSIGNED NOT NULL,
    amount    BIGINT           NOT NULL,
    taken     TINYINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (seq),
    KEY by_namespace (namespace, seq),
    KEY by_name (namespace, name, seq)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The last append of each writer: what is at or below it is a repeat.
CREATE TABLE IF NOT EXISTS `{prefix}counter_writers` (
    namespace   {name}          NOT NULL,
    writer      {boot}          NOT NULL,
    last        BIGINT UNSIGNED NOT NULL,
    appended_at DATETIME(6)     NOT NULL,
    PRIMARY KEY (namespace, writer)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
