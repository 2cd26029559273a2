-- The rows of a batch, copied to where they are kept; they are deleted after that.
INSERT INTO {into} ({columns}) SELECT {columns} FROM {table} WHERE {these}
