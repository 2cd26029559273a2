-- Everything that a handover does, in a namespace that no name can name, and then undone: a session
-- that calls a function for the first time spends milliseconds on reading and planning it, and a
-- handover is when they count.
BEGIN;
SELECT {t}beat(
    '? ' || pg_backend_pid(), 0, '0/0',
    jsonb_build_object(
        'node', '{"id": "rehearsal", "boot": "00000000000000000000000000000000", "beat": 1,
                  "eligible": false, "draining": false, "load": 0, "seen": 0}'::jsonb,
        'lease', jsonb_build_object('acquire', jsonb_build_object(
            'expect', NULL, 'claim', 'vacant', 'lineage', lineage, 'floor', 0,
            'nonce', '{"boot": "00000000000000000000000000000000", "attempt": 1}'::jsonb,
            'ttl', '{"secs": 1, "nanos": 0}'::jsonb)),
        'replaces', NULL, 'known_view', '{"epoch": 0, "number": 0}'::jsonb,
        'recording', 'write'),
    '{}', NULL)
    FROM {t}meta;
SELECT {t}beat(
    '? ' || pg_backend_pid(), 0, '0/0',
    '{"node": {"id": "rehearsal", "boot": "00000000000000000000000000000000", "beat": 2,
               "eligible": false, "draining": false, "load": 0, "seen": 0},
      "lease": "observe", "replaces": null, "known_view": {"epoch": 0, "number": 0},
      "recording": "leave"}',
    '{}', NULL);
SELECT {t}ask('? ' || pg_backend_pid(), 0, '0/0', epoch,
           '{"nonce": null, "wish": null}', 'null')
    FROM {t}locks WHERE lock_key = '? ' || pg_backend_pid();
SELECT {t}release('? ' || pg_backend_pid(), 0, '0/0', jsonb_build_object(
        'expect', jsonb_build_object(
            'epoch', epoch,
            'nonce', '{"boot": "00000000000000000000000000000000", "attempt": 1}'::jsonb),
        'nonce', '{"boot": "00000000000000000000000000000000", "attempt": 2}'::jsonb,
        'successor', NULL, 'reason', 'resigned'),
        'null')
    FROM {t}locks WHERE lock_key = '? ' || pg_backend_pid();
ROLLBACK;
