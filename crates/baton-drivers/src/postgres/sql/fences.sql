-- The register for the user's own data: the highest epoch that was admitted, per resource. A table
-- of its own, so that a user's long transaction can block neither a renewal nor an acquisition.
CREATE TABLE IF NOT EXISTS {t}fences (
    resource   text COLLATE "C" NOT NULL PRIMARY KEY,
    epoch      numeric(20)      NOT NULL,
    updated_at timestamptz      NOT NULL
) WITH (fillfactor = 50);
