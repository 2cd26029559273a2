-- Publishes a view, unless a later epoch is known or this term has published a later one.
CREATE OR REPLACE FUNCTION {t}publish(
    space text, seen_lineage numeric, seen_lsn pg_lsn, fenced_by numeric, view_epoch numeric,
    view_number numeric, view_body text, hint text
) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    IF {t}is_fenced_off(space, seen_lineage, seen_lsn, fenced_by) THEN
        RETURN 'conflict';
    END IF;
    PERFORM 1 FROM {t}views
        WHERE namespace = space AND epoch = view_epoch AND number >= view_number;
    IF FOUND THEN
        RETURN 'conflict';
    END IF;
    INSERT INTO {t}views (namespace, epoch, number, body)
        VALUES (space, view_epoch, view_number, view_body)
        ON CONFLICT (namespace) DO UPDATE
            SET epoch = excluded.epoch, number = excluded.number, body = excluded.body;
    UPDATE {t}namespaces SET fence = fenced_by WHERE namespace = space;
    PERFORM pg_notify({t}channel(space), hint);
    RETURN 'applied';
END
$fn$;
