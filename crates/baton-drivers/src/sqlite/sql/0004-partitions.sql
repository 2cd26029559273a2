-- What version 4 adds: what a node says of its partitions, and the lowest version that a program must
-- know to use this schema, so that a deploy can be rolled back.

CREATE TABLE baton_schema (lowest_compatible INTEGER NOT NULL) STRICT;

INSERT INTO baton_schema (lowest_compatible) VALUES (0);

-- The report as JSON, and the process that it is of: a program of version 3 writes neither, and leaves
-- what the process before it said.
ALTER TABLE baton_nodes ADD COLUMN partitions TEXT;
ALTER TABLE baton_nodes ADD COLUMN partitions_boot TEXT;
