-- What version 2 adds: counters.

-- What the leader has consolidated.
CREATE TABLE baton_counters (
    namespace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    value      INTEGER NOT NULL,
    overflowed INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- What is pending, in the order of seq. A change is taken out in the step that applies it.
CREATE TABLE baton_counter_deltas (
    seq       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    is_set    INTEGER NOT NULL,
    amount    INTEGER NOT NULL
) STRICT;

CREATE INDEX baton_counter_deltas_by_namespace ON baton_counter_deltas (namespace, seq);
CREATE INDEX baton_counter_deltas_by_name ON baton_counter_deltas (namespace, name, seq);

-- The last append of each writer: what is at or below it is a repeat. appended_at: microseconds since
-- the machine was booted.
CREATE TABLE baton_counter_writers (
    namespace   TEXT    NOT NULL,
    writer      TEXT    NOT NULL,
    last        INTEGER NOT NULL,
    machine     TEXT    NOT NULL,
    appended_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, writer)
) STRICT, WITHOUT ROWID;
