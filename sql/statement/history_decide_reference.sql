-- What to do about each difference, where everything is dated by the reference: one row for each action on a version.
-- $1 the reference; $2 the unit of the time axis; $3 its tick.
WITH found AS MATERIALIZED (
    SELECT found.*, found.state IN ('missing', 'changed') AS supersedes,
           found.state IN ('new', 'changed') AND coalesce(former.ended = $1 - $2 AND {same}, false) AS resumes,
           former.part AS former_part, former.place AS former_place, former.began AS former_began,
           former.ended AS former_ended, former.is_current AS former_current
    FROM {differences} AS found
    LEFT JOIN LATERAL (
        -- The version before the one that began at the reference, or for a key without a current version the last one.
        SELECT {place}, existing.{captured} AS began, existing.{delimited} AS ended, {is_current} AS is_current, {old_columns}
        FROM {target} AS existing
        WHERE {same_key}
          AND existing.{captured} <= CASE WHEN found.state = 'new' THEN {axis}'infinity'
                                          WHEN found.began = $1 THEN $1 - interval '1 microsecond' END
        ORDER BY existing.{captured} DESC
        LIMIT 1
    ) AS former ON true
)
-- A version that began at this very reference goes: the last input at an instant is the one that counts.
SELECT CASE WHEN found.began = $1 THEN 'withdraw' WHEN found.began + $3 <= $1 THEN 'close' ELSE 'near' END AS what,
       found.part, found.place, found.began, $1 AS valid_from, $1 - $2 AS valid_to,
       false AS late, false AS returns, found.state = 'missing' AS ends, {columns}
FROM found
WHERE found.supersedes
UNION ALL
SELECT 'reopen', found.former_part, found.former_place, found.former_began, NULL, {horizon}, false, false, false, {columns}
FROM found
WHERE found.resumes
UNION ALL
SELECT CASE WHEN found.former_began IS NULL THEN 'open'
            WHEN found.former_current THEN 'outside'
            WHEN found.former_ended + $2 <= $1 THEN 'open'
            ELSE 'near' END,
       found.former_part, found.former_place, found.former_began, $1, {horizon},
       false, coalesce(found.former_ended + $2 < $1, false), false, {columns}
FROM found
WHERE found.state = 'new' AND NOT found.resumes
UNION ALL
SELECT 'open', NULL, NULL, NULL, $1, {horizon}, false, false, false, {columns}
FROM found
WHERE found.state = 'changed' AND NOT found.resumes AND (found.began = $1 OR found.began + $3 <= $1)
UNION ALL
SELECT CASE WHEN found.copies > 1 THEN 'duplicate' ELSE 'rehash' END,
       found.part, found.place, found.began, NULL, NULL, false, false, false, {columns}
FROM found
WHERE found.copies > 1 OR found.state = 'same'
