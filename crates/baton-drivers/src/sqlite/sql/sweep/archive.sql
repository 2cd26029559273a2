-- The rows of a batch that are due, copied to where they are kept; they are deleted after that.
INSERT INTO {into} ({columns}) SELECT {columns} FROM {table} WHERE {these} AND {due}
