-- What to do about each difference, where rows are dated by their source: one row for each action on a version.
-- $1 the reference; $2 the unit of the time axis; $3 its tick.
SELECT action.what, action.part, action.place, action.began, action.valid_from, action.valid_to, action.late, action.returns,
       action.ends, {columns}
FROM (
    SELECT found.*, found.state = 'changed' AND found.starts < found.began + $3 AS is_late,
           before.part AS before_part, before.place AS before_place, before.began AS before_began,
           before.ended AS before_ended, before.is_current AS before_current, {same} AS before_same,
           before.is_current OR before.ended + $2 > found.starts AS before_covers,
           coalesce(before.ended = $1 - $2 AND {same}, false) AS resumes{after_column}
    FROM {differences} AS found
    LEFT JOIN LATERAL (
        -- For a key without a current version, its last one{look_at}.
        SELECT {place}, existing.{captured} AS began, existing.{delimited} AS ended, {is_current} AS is_current, {old_columns}
        FROM {target} AS existing
        WHERE {same_key}
          AND existing.{captured} <= CASE WHEN found.state = 'new' THEN {axis}'infinity'{look_until} END
        ORDER BY existing.{captured} DESC
        LIMIT 1
    ) AS before ON true{after}
) AS found
CROSS JOIN LATERAL (VALUES
    (CASE WHEN found.state = 'missing' THEN 'close' END,
     found.part, found.place, found.began, NULL::{axis}, greatest($1, found.began + $3) - $2, false, false, true),
    (CASE WHEN found.state = 'changed' AND NOT found.is_late THEN 'close' END,
     found.part, found.place, found.began, NULL, found.starts - $2, false, false, false),
    (CASE WHEN found.state = 'changed' AND NOT found.is_late THEN 'open' END,
     NULL, NULL, NULL, found.starts, {horizon}, false, false, false),
    (CASE WHEN found.state = 'new' THEN
              CASE WHEN found.before_began IS NULL THEN 'open'
                   WHEN found.before_current THEN 'outside'
                   WHEN found.resumes THEN 'reopen'
                   ELSE 'open' END
     END,
     found.before_part, found.before_place, found.before_began, greatest(found.starts, found.before_ended + $2), {horizon},
     found.starts < found.before_ended + $2 AND NOT found.resumes, found.before_began IS NOT NULL AND NOT found.resumes, false),
{late},
    (CASE WHEN found.state = 'same' AND found.copies = 1 THEN 'rehash' END,
     found.part, found.place, found.began, NULL, NULL, false, false, false),
    (CASE WHEN found.copies > 1 THEN 'duplicate' END,
     NULL, NULL, NULL, NULL, NULL, false, false, false)
) AS action (what, part, place, began, valid_from, valid_to, late, returns, ends)
WHERE action.what IS NOT NULL
