-- What version 5 adds: what a node says of its partitions, as JSON. Beats that say it, and documents in
-- batches, have procedures of their own, so programs of version 4 can use this schema too.
ALTER TABLE `{prefix}nodes` ADD COLUMN partitions MEDIUMTEXT NULL;
