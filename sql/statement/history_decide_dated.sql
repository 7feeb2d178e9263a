-- What to do about each difference, where rows are dated by their source: one row for each action on a version.
-- $1 the reference; $2 the unit of the time axis; $3 its tick.
WITH found AS MATERIALIZED (
    SELECT found.*, found.state = 'changed' AND found.starts < found.began + $3 AS is_late,
           found.state = 'new' AND coalesce(former.ended = $1 - $2 AND {same}, false) AS resumes,
           former.part AS former_part, former.place AS former_place, former.began AS former_began,
           former.ended AS former_ended, former.is_current AS former_current,
           coalesce({same}, false) AS former_same,
           coalesce(former.is_current OR former.ended + $2 > found.starts, false) AS is_covered{next_column}
    FROM {differences} AS found
    LEFT JOIN LATERAL (
        -- For a key without a current version, its last one{look_at}.
        SELECT {place}, existing.{captured} AS began, existing.{delimited} AS ended, {is_current} AS is_current, {old_columns}
        FROM {target} AS existing
        WHERE {same_key}
          AND existing.{captured} <= CASE WHEN found.state = 'new' THEN {axis}'infinity'{look_until} END
        ORDER BY existing.{captured} DESC
        LIMIT 1
    ) AS former ON true{next}
)
SELECT 'close' AS what, found.part, found.place, found.began, NULL::{axis} AS valid_from,
       CASE WHEN found.state = 'missing' THEN greatest($1, found.began + $3) ELSE found.starts END - $2 AS valid_to,
       false AS late, false AS returns, found.state = 'missing' AS ends, {columns}
FROM found
WHERE found.state = 'missing' OR (found.state = 'changed' AND NOT found.is_late)
UNION ALL
SELECT 'open', NULL, NULL, NULL, found.starts, {horizon}, false, false, false, {columns}
FROM found
WHERE found.state = 'changed' AND NOT found.is_late
UNION ALL
-- A record that had ended begins again no earlier than that.
SELECT CASE WHEN found.former_began IS NULL THEN 'open'
            WHEN found.former_current THEN 'outside'
            WHEN found.resumes THEN 'reopen'
            ELSE 'open' END,
       found.former_part, found.former_place, found.former_began, greatest(found.starts, found.former_ended + $2), {horizon},
       coalesce(found.starts < found.former_ended + $2 AND NOT found.resumes, false),
       found.former_began IS NOT NULL AND NOT found.resumes, false, {columns}
FROM found
WHERE found.state = 'new'
UNION ALL
{late}
UNION ALL
SELECT CASE WHEN found.copies > 1 THEN 'duplicate' ELSE 'rehash' END,
       found.part, found.place, found.began, NULL, NULL, false, false, false, {columns}
FROM found
WHERE found.copies > 1 OR found.state = 'same'
