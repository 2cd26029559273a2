-- What version 2 adds: counters. {t} stands for the schema and the prefix.

-- What the leader has consolidated. Written by consolidations alone, under the namespace's row.
CREATE TABLE {t}counters (
    namespace  text COLLATE "C" NOT NULL,
    name       bytea            NOT NULL,
    value      bigint           NOT NULL,
    overflowed boolean          NOT NULL,
    updated_at timestamptz      NOT NULL,
    PRIMARY KEY (namespace, name)
) WITH (fillfactor = 70);

-- What is pending, in the order of seq. A change is taken out in the step that applies it. A number
-- may be drawn long before its transaction commits: whoever reads takes what is there, and never
-- goes on from the highest number seen.
CREATE TABLE {t}counter_deltas (
    seq       bigint GENERATED ALWAYS AS IDENTITY,
    namespace text COLLATE "C" NOT NULL,
    name      bytea            NOT NULL,
    is_set    boolean          NOT NULL,
    amount    bigint           NOT NULL,
    PRIMARY KEY (namespace, seq)
);

CREATE INDEX ON {t}counter_deltas (namespace, name);

-- The last append of each writer: what is at or below it is a repeat.
CREATE TABLE {t}counter_writers (
    namespace   text COLLATE "C" NOT NULL,
    writer      text COLLATE "C" NOT NULL,
    last        numeric(20)      NOT NULL,
    appended_at timestamptz      NOT NULL,
    PRIMARY KEY (namespace, writer)
) WITH (fillfactor = 50);
