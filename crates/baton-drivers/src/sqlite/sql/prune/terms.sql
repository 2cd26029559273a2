-- ?2 the number of terms that are kept, ?3 the most that may go. The oldest go first.
DELETE FROM baton_terms WHERE seq IN (
    SELECT seq FROM baton_terms WHERE namespace = ?1 AND seq <= (
        SELECT seq FROM baton_terms WHERE namespace = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)
    ORDER BY seq LIMIT ?3)
