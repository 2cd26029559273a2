-- What version 6 adds: what a node says of its partitions, as JSON. Documents are written in batches by
-- a function of their own, so programs of version 5 can use this schema too.
ALTER TABLE {t}nodes ADD COLUMN partitions text;
