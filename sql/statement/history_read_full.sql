-- What differs between a full snapshot and the current versions. Every current version that leaves the join is counted in passing
-- ({joined}): there are more than there are current versions if a key was delivered twice. Counting them where they are read would not
-- do, since a join may go back over rows that it has read.
-- $1 the reference; $5 what an up-to-date fingerprint begins with; $7 the number of the run.
{with}SELECT {keys}, {data}, new.starts, 1::pg_catalog.int8 AS copies, old.part, old.place, old.began,
       CASE WHEN new.starts IS NULL THEN 'missing'
            WHEN old.began IS NULL THEN 'new'
            WHEN {same} THEN 'same'
            ELSE 'changed' END AS state
FROM {delivered} AS new
FULL JOIN (
    SELECT {place}, existing.{captured} AS began, {old_columns}
    FROM {target} AS existing
    WHERE {is_current}{predicate}
) AS old ON {same_key}
WHERE CASE WHEN daybook.tally($7, {joined}, 1, old.began IS NOT NULL) IS NULL THEN NULL
           WHEN new.starts IS NULL THEN {closes}
           WHEN old.began IS NULL THEN true
           ELSE NOT {same}{stale} END
