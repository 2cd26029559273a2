-- Everything that version 1 keeps. {prefix}, {name} and {boot} are filled in by the driver: the
-- tables' prefix, a node id or namespace (bytes, upper and lower case differ), and a boot id as 32
-- hexadecimal digits. Moments are DATETIME(6) in UTC, whatever the session's time zone; spans are
-- microseconds; what ends in _ms is Unix milliseconds, for people.

-- Which line of history the data belongs to, and by which server that was told. The row is written
-- last of all: where it stands, the schema is whole.
CREATE TABLE IF NOT EXISTS `{prefix}meta` (
    one            TINYINT UNSIGNED NOT NULL,
    schema_version INT UNSIGNED     NOT NULL,
    lineage        BIGINT UNSIGNED  NOT NULL,
    identity       VARCHAR(2048)    NOT NULL,
    lowest_compatible INT UNSIGNED  NULL,
    PRIMARY KEY (one)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The lineage a namespace was first written in, and the highest epoch that a write carried. Its row
-- is what every step that decides something locks first.
CREATE TABLE IF NOT EXISTS `{prefix}namespaces` (
    namespace  {name}          NOT NULL,
    born_in    BIGINT UNSIGNED NOT NULL,
    fence      BIGINT UNSIGNED NOT NULL,
    created_at DATETIME(6)     NOT NULL,
    PRIMARY KEY (namespace)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The lease. One row a namespace, never deleted. status: 1 held, 0 released.
CREATE TABLE IF NOT EXISTS `{prefix}locks` (
    lock_key       {name}           NOT NULL,
    owner_id       {name}           NULL,
    expires_at     DATETIME(6)      NOT NULL,
    epoch          BIGINT UNSIGNED  NOT NULL,
    status         TINYINT UNSIGNED NOT NULL,
    created_at     DATETIME(6)      NOT NULL,
    updated_at     DATETIME(6)      NOT NULL,
    owner_boot     {boot}           NULL,
    owner_lifeline TEXT             NULL,
    nonce_boot     {boot}           NOT NULL,
    nonce_attempt  BIGINT UNSIGNED  NOT NULL,
    successor      {name}           NULL,
    ttl            BIGINT UNSIGNED  NOT NULL,
    written_in     BIGINT UNSIGNED  NOT NULL,
    granted_in     BIGINT UNSIGNED  NOT NULL,
    asked          TEXT             NULL,
    PRIMARY KEY (lock_key),
    UNIQUE KEY lock_key_status (lock_key, status)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The registry. profile, partitions: JSON.
CREATE TABLE IF NOT EXISTS `{prefix}nodes` (
    namespace {name}           NOT NULL,
    node_id   {name}           NOT NULL,
    boot      {boot}           NOT NULL,
    beat      BIGINT UNSIGNED  NOT NULL,
    eligible  TINYINT UNSIGNED NOT NULL,
    draining  TINYINT UNSIGNED NOT NULL,
    job_count INT UNSIGNED     NOT NULL,
    seen      BIGINT UNSIGNED  NOT NULL,
    profile   MEDIUMTEXT       NOT NULL,
    beat_at   DATETIME(6)      NOT NULL,
    partitions MEDIUMTEXT      NULL,
    PRIMARY KEY (namespace, node_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The published view of each namespace. body: JSON.
CREATE TABLE IF NOT EXISTS `{prefix}views` (
    namespace {name}          NOT NULL,
    epoch     BIGINT UNSIGNED NOT NULL,
    number    BIGINT UNSIGNED NOT NULL,
    body      LONGTEXT        NOT NULL,
    PRIMARY KEY (namespace)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Small state of plugins and of the leader. Names are bytes: the collations that both servers
-- have take a name and the same with a space after it for one.
CREATE TABLE IF NOT EXISTS `{prefix}documents` (
    namespace  {name}          NOT NULL,
    name       VARBINARY(1024) NOT NULL,
    version    BIGINT UNSIGNED NOT NULL,
    body       LONGBLOB        NOT NULL,
    updated_at DATETIME(6)     NOT NULL,
    PRIMARY KEY (namespace, name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The term history, in the order of seq. ended_by: JSON.
CREATE TABLE IF NOT EXISTS `{prefix}terms` (
    seq       BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    namespace {name}          NOT NULL,
    epoch     BIGINT UNSIGNED NOT NULL,
    node_id   {name}          NOT NULL,
    boot      {boot}          NOT NULL,
    began_ms  BIGINT UNSIGNED NOT NULL,
    ended_ms  BIGINT UNSIGNED NULL,
    ended_by  VARCHAR(255)    NULL,
    gap_ms    BIGINT UNSIGNED NULL,
    gap_at_most_ms BIGINT UNSIGNED NULL,
    PRIMARY KEY (seq),
    KEY by_namespace (namespace, seq)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
