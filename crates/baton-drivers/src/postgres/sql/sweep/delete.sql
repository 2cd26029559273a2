-- The rows that are due, deleted.
WITH due AS MATERIALIZED ({locked})
DELETE FROM {table} WHERE {these} AND {due}
