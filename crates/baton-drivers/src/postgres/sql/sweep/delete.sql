WITH due AS MATERIALIZED ({locked})
DELETE FROM {table} WHERE {these}
