-- What differs between a full snapshot and the current versions. Both are read once; every row is counted in passing: current
-- versions as they are read ({known}), and again as they leave the join ({joined}), which are more if a key was delivered twice.
-- $1 the reference; $5 what an up-to-date fingerprint begins with; $7 the number of the run.
{with}SELECT {keys}, {data}, new.starts, 1::pg_catalog.int8 AS copies, old.part, old.place, old.began,
       CASE WHEN new.starts IS NULL THEN 'missing'
            WHEN old.began IS NULL THEN 'new'
            WHEN {same} THEN 'same'
            ELSE 'changed' END AS state
FROM {delivered} AS new
FULL JOIN (
    SELECT *
    FROM (
        SELECT {place}, existing.{captured} AS began, {old_columns}
        FROM {target} AS existing
        WHERE {is_current}{predicate}
        OFFSET 0
    ) AS old
    WHERE daybook.tally($7, {known}, 1, true) IS NOT NULL
) AS old ON {same_key}
WHERE CASE WHEN daybook.tally($7, {joined}, 1, old.began IS NOT NULL) IS NULL THEN NULL
           WHEN new.starts IS NULL THEN {closes}
           WHEN old.began IS NULL THEN true
           ELSE NOT {same}{stale} END
