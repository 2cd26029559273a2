-- Counters as they stand, at the moment of this one statement: what is consolidated, and the sum with
-- all that is pending, which may be more than 64 bits. {filter} says which names.
SELECT it.name AS name,
       COALESCE(known.value, 0) AS value,
       COALESCE(known.overflowed, 0) AS overflowed,
       COALESCE(pending.start, known.value, 0) + COALESCE(pending.added, 0) AS total,
       pending.start IS NULL AND COALESCE(known.overflowed, 0) AS is_over
FROM (
    SELECT name FROM `{prefix}counters` WHERE namespace = {namespace} AND {filter}
    UNION
    SELECT name FROM `{prefix}counter_deltas` WHERE namespace = {namespace} AND {filter}
    ORDER BY name LIMIT {limit}) AS it
LEFT JOIN `{prefix}counters` AS known ON known.namespace = {namespace} AND known.name = it.name
LEFT JOIN (
    SELECT due.name, MAX(IF(due.seq = since.seq, due.amount, NULL)) AS start,
           SUM(CAST(IF(due.seq > COALESCE(since.seq, 0), due.amount, 0) AS DECIMAL(65))) AS added
    FROM (
        SELECT name, seq, amount FROM `{prefix}counter_deltas`
        WHERE namespace = {namespace} AND {filter}) AS due
    LEFT JOIN (
        SELECT name, MAX(seq) AS seq FROM `{prefix}counter_deltas`
        WHERE namespace = {namespace} AND is_set = 1 AND {filter}
        GROUP BY name) AS since ON since.name = due.name
    GROUP BY due.name) AS pending ON pending.name = it.name
ORDER BY it.name
