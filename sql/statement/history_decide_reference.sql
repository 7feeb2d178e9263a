-- What to do about each difference, where everything is dated by the reference: one row for each action on a version.
-- $1 the reference; $2 the unit of the time axis; $3 its tick.
SELECT action.what, action.part, action.place, action.began, action.valid_from, action.valid_to, action.late, action.returns,
       action.ends, {columns}
FROM (
    SELECT found.*, found.state IN ('missing', 'changed') AS supersedes, found.state IN ('new', 'changed') AS appears,
           before.part AS before_part, before.place AS before_place, before.began AS before_began,
           before.ended AS before_ended, before.is_current AS before_current,
           coalesce(before.ended = $1 - $2 AND {same}, false) AS resumes
    FROM {differences} AS found
    LEFT JOIN LATERAL (
        -- The version before the one that began at the reference; for a key without a current version, the last one.
        SELECT {place}, existing.{captured} AS began, existing.{delimited} AS ended, {is_current} AS is_current, {old_columns}
        FROM {target} AS existing
        WHERE {same_key}
          AND existing.{captured} <= CASE WHEN found.state = 'new' THEN {axis}'infinity'
                                          WHEN found.began = $1 THEN $1 - interval '1 microsecond' END
        ORDER BY existing.{captured} DESC
        LIMIT 1
    ) AS before ON true
) AS found
CROSS JOIN LATERAL (VALUES
    -- A version that began at this very reference goes: the last input at an instant is the one that counts.
    (CASE WHEN found.supersedes AND found.began = $1 THEN 'withdraw' END,
     found.part, found.place, found.began, NULL::{axis}, NULL::{axis}, false, false, found.state = 'missing'),
    (CASE WHEN found.supersedes AND found.began + $3 <= $1 THEN 'close' END,
     found.part, found.place, found.began, NULL, $1 - $2, false, false, found.state = 'missing'),
    (CASE WHEN found.supersedes AND found.began <> $1 AND found.began + $3 > $1 THEN 'near' END,
     found.part, found.place, found.began, $1, NULL, false, false, false),
    (CASE WHEN found.appears AND found.resumes THEN 'reopen' END,
     found.before_part, found.before_place, found.before_began, NULL, {horizon}, false, false, false),
    (CASE WHEN found.appears AND NOT found.resumes THEN
              CASE WHEN found.state = 'changed' THEN
                       CASE WHEN found.began = $1 OR found.began + $3 <= $1 THEN 'open' END
                   WHEN found.before_began IS NULL THEN 'open'
                   WHEN found.before_current THEN 'outside'
                   WHEN found.before_ended + $2 <= $1 THEN 'open'
                   ELSE 'near' END
     END,
     found.before_part, found.before_place, found.before_began, $1, {horizon}, false,
     found.state = 'new' AND found.before_ended + $2 < $1, false),
    (CASE WHEN found.state = 'same' AND found.copies = 1 THEN 'rehash' END,
     found.part, found.place, found.began, NULL, NULL, false, false, false),
    (CASE WHEN found.copies > 1 THEN 'duplicate' END,
     NULL, NULL, NULL, NULL, NULL, false, false, false)
) AS action (what, part, place, began, valid_from, valid_to, late, returns, ends)
WHERE action.what IS NOT NULL
