-- What version 4 adds: the lowest version that a program must know to use this schema, so that a deploy
-- can be rolled back. NULL stands for the schema's own version.
ALTER TABLE `{prefix}meta` ADD COLUMN lowest_compatible INT UNSIGNED NULL;
