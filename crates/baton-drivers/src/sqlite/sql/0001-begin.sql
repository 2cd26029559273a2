-- Everything that version 1 keeps. Numbers of 64 bits are stored bit by bit in SQLite's signed
-- integers. `machine` names the boot of the machine that a reading of its clock belongs to.

-- Which line of history the file belongs to, and by what that was told.
CREATE TABLE baton_meta (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    lineage INTEGER NOT NULL,
    machine TEXT    NOT NULL,
    device  INTEGER NOT NULL,
    inode   INTEGER NOT NULL,
    born    INTEGER NOT NULL
) STRICT;

-- The lineage a namespace was first written in, and the highest epoch that a write carried.
CREATE TABLE baton_namespaces (
    namespace  TEXT    NOT NULL PRIMARY KEY,
    born_in    INTEGER NOT NULL,
    fence      INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The lease. One row a namespace, never deleted. status: 1 held, 0 released.
-- expires_at: microseconds since the machine was booted; ttl: microseconds;
-- created_at, updated_at: Unix milliseconds.
CREATE TABLE baton_locks (
    lock_key       TEXT    NOT NULL PRIMARY KEY,
    owner_id       TEXT,
    expires_at     INTEGER NOT NULL,
    epoch          INTEGER NOT NULL,
    status         INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    owner_boot     TEXT,
    owner_lifeline TEXT,
    nonce_boot     TEXT    NOT NULL,
    nonce_attempt  INTEGER NOT NULL,
    successor      TEXT,
    ttl            INTEGER NOT NULL,
    machine        TEXT    NOT NULL,
    written_in     INTEGER NOT NULL,
    granted_in     INTEGER NOT NULL,
    asked          TEXT,
    UNIQUE (lock_key, status)
) STRICT;

-- The registry. beat_at: microseconds since the machine was booted.
CREATE TABLE baton_nodes (
    namespace TEXT    NOT NULL,
    node_id   TEXT    NOT NULL,
    boot      TEXT    NOT NULL,
    beat      INTEGER NOT NULL,
    eligible  INTEGER NOT NULL,
    draining  INTEGER NOT NULL,
    load      INTEGER NOT NULL,
    seen      INTEGER NOT NULL,
    profile   TEXT    NOT NULL,
    machine   TEXT    NOT NULL,
    beat_at   INTEGER NOT NULL,
    PRIMARY KEY (namespace, node_id)
) STRICT, WITHOUT ROWID;

-- The published view of each namespace.
CREATE TABLE baton_views (
    namespace TEXT    NOT NULL PRIMARY KEY,
    epoch     INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    body      TEXT    NOT NULL
) STRICT;

-- Small state of plugins and of the leader.
CREATE TABLE baton_documents (
    namespace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    body       BLOB    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT;

-- The term history, in the order of seq. All times are Unix milliseconds, for people.
CREATE TABLE baton_terms (
    seq       INTEGER NOT NULL PRIMARY KEY,
    namespace TEXT    NOT NULL,
    epoch     INTEGER NOT NULL,
    node_id   TEXT    NOT NULL,
    boot      TEXT    NOT NULL,
    began_ms  INTEGER NOT NULL,
    ended_ms  INTEGER,
    ended_by  TEXT,
    gap_ms    INTEGER
) STRICT;

CREATE INDEX baton_terms_by_namespace ON baton_terms (namespace, seq);
