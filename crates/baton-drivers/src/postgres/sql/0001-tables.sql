-- Everything that version 1 keeps. {t} stands for the schema and the prefix, public.baton_ unless
-- the URL says otherwise. Epochs, counts and lineages are numbers of 64 bits without a sign, which
-- no integer of PostgreSQL holds: numeric(20). Names compare byte by byte: COLLATE "C". Times that
-- decide are timestamptz, which knows no session's zone; *_ms are Unix milliseconds for people.

-- Which schema this is, which line of history the data belongs to, and by what that was told.
CREATE TABLE {t}meta (
    one            integer     NOT NULL PRIMARY KEY CHECK (one = 1),
    schema_version integer     NOT NULL,
    lineage        numeric(20) NOT NULL,
    identity       text        NOT NULL
);

-- The lineage a namespace was first written in, and the highest epoch that a write of baton's own
-- carried. Locked by whoever grants or fences; never by a renewal.
CREATE TABLE {t}namespaces (
    namespace  text COLLATE "C" NOT NULL PRIMARY KEY,
    born_in    numeric(20)      NOT NULL,
    fence      numeric(20)      NOT NULL,
    created_at timestamptz      NOT NULL
) WITH (fillfactor = 50);

-- The lease. One row a namespace, never deleted. status: 1 held, 0 released. ttl_us: microseconds.
-- Room in every page keeps renewals out of the indexes.
CREATE TABLE {t}locks (
    lock_key       text COLLATE "C" NOT NULL PRIMARY KEY,
    owner_id       text COLLATE "C",
    expires_at     timestamptz      NOT NULL,
    epoch          numeric(20)      NOT NULL,
    status         integer          NOT NULL,
    created_at     timestamptz      NOT NULL,
    updated_at     timestamptz      NOT NULL,
    owner_boot     text COLLATE "C",
    owner_lifeline text,
    nonce_boot     text COLLATE "C" NOT NULL,
    nonce_attempt  numeric(20)      NOT NULL,
    successor      text COLLATE "C",
    ttl_us         numeric          NOT NULL,
    written_in     numeric(20)      NOT NULL,
    granted_in     numeric(20)      NOT NULL,
    asked          jsonb,
    UNIQUE (lock_key, status)
) WITH (fillfactor = 50);

-- The registry: one row a node, rewritten by each of its beats.
CREATE TABLE {t}nodes (
    namespace text COLLATE "C" NOT NULL,
    node_id   text COLLATE "C" NOT NULL,
    boot      text COLLATE "C" NOT NULL,
    beat      numeric(20)      NOT NULL,
    eligible  boolean          NOT NULL,
    draining  boolean          NOT NULL,
    load      bigint           NOT NULL,
    seen      numeric(20)      NOT NULL,
    profile   text             NOT NULL,
    beat_at   timestamptz      NOT NULL,
    PRIMARY KEY (namespace, node_id)
) WITH (fillfactor = 50);

-- The published view of each namespace.
CREATE TABLE {t}views (
    namespace text COLLATE "C" NOT NULL PRIMARY KEY,
    epoch     numeric(20)      NOT NULL,
    number    numeric(20)      NOT NULL,
    body      text             NOT NULL
) WITH (fillfactor = 50);

-- Small state of plugins and of the leader. Names are bytes: any character may be in one.
CREATE TABLE {t}documents (
    namespace  text COLLATE "C" NOT NULL,
    name       bytea            NOT NULL,
    version    numeric(20)      NOT NULL,
    body       bytea            NOT NULL,
    updated_at timestamptz      NOT NULL,
    PRIMARY KEY (namespace, name)
);

-- The term history, the last 1,000 of each namespace, in the order of seq.
CREATE TABLE {t}terms (
    namespace text COLLATE "C" NOT NULL,
    seq       bigint           NOT NULL,
    epoch     numeric(20)      NOT NULL,
    node_id   text COLLATE "C" NOT NULL,
    boot      text COLLATE "C" NOT NULL,
    began_ms  bigint           NOT NULL,
    ended_ms  bigint,
    ended_by  jsonb,
    gap_ms    bigint,
    PRIMARY KEY (namespace, seq)
);
