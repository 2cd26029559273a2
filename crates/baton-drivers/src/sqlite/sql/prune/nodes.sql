-- ?2 this boot of the machine, ?3 the last beat that is too long ago, ?4 the most that may go. A beat
-- of another boot of the machine was made by a process that is gone.
DELETE FROM baton_nodes WHERE namespace = ?1 AND node_id IN (
    SELECT node_id FROM baton_nodes WHERE namespace = ?1 AND (machine <> ?2 OR beat_at <= ?3)
    ORDER BY node_id LIMIT ?4)
