INSERT INTO {into} ({columns}) SELECT {columns} FROM {table} WHERE {these}
