-- What version 3 adds: how long a gap can have been at most. Unknown for the terms before.
ALTER TABLE `{prefix}terms` ADD COLUMN gap_at_most_ms BIGINT UNSIGNED NULL;
