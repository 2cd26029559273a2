-- The columns of each unique index of a table that has all of its rows, and of its primary key,
-- which has no index if it is the row's own number.
SELECT list.name, info.name FROM pragma_index_list(?1, ?2) AS list,
    pragma_index_info(list.name, ?2) AS info WHERE list."unique" AND NOT list.partial
UNION ALL SELECT '', name FROM pragma_table_xinfo(?1, ?2) WHERE pk > 0
