-- Admits a write of this epoch to a resource, or raises BT002 if a later epoch was there. Call it
-- in the transaction of the write, before the write: what it locks stays locked until the end, so
-- that a later epoch waits for this transaction, and an earlier one finds out.
--
-- A process that is paused meanwhile must not hold that lock for ever: a transaction that sets no
-- limit of its own is ended once it has done nothing for 15 s, and waits no longer for a lock.
--
-- Writers of one epoch share the lock. One that raises the epoch asks for the whole lock at once and
-- never for half of it first, so two that raise it together cannot lock each other out.
CREATE OR REPLACE FUNCTION {t}fence(wanted text, given numeric) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
    highest numeric;
    setting text;
BEGIN
    FOREACH setting IN ARRAY ARRAY['idle_in_transaction_session_timeout', 'lock_timeout'] LOOP
        IF current_setting(setting)::interval = '0' THEN
            PERFORM set_config(setting, '15s', true);
        END IF;
    END LOOP;
    LOOP
        SELECT epoch INTO highest FROM {t}fences WHERE resource = wanted;
        IF FOUND AND highest = given THEN
            SELECT epoch INTO highest FROM {t}fences WHERE resource = wanted FOR SHARE;
            IF FOUND AND highest = given THEN
                RETURN;
            END IF;
        END IF;
        IF highest > given THEN
            RAISE EXCEPTION USING
                ERRCODE = 'BT002',
                MESSAGE = format('epoch %s is behind %s, which was admitted to %s; '
                                 'its term is over', given, highest, wanted),
                DETAIL = highest::text,
                HINT = format('If epochs began anew, in another namespace or a new store: '
                              'baton fences reset %s', wanted);
        END IF;
        INSERT INTO {t}fences AS known (resource, epoch, updated_at)
            VALUES (wanted, given, clock_timestamp())
            ON CONFLICT (resource) DO UPDATE
                SET epoch = excluded.epoch, updated_at = excluded.updated_at
                WHERE known.epoch < excluded.epoch;
        IF FOUND THEN
            RETURN;
        END IF;
    END LOOP;
END
$fn$;
