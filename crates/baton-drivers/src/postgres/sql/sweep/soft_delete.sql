-- The rows that are due, marked.
WITH due AS MATERIALIZED ({locked})
UPDATE {table} SET {soft} = {now} WHERE {these} AND {due}
