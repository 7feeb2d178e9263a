-- What to do about change events: one row for each action on a version. The known versions of each key, from the one before its
-- first event on, and the events are laid out in order of time; where both begin at once the event is what counts.
-- $1 the reference; $2 the unit of the time axis; $3 its tick.
WITH orphan AS (
    -- Rows as they were after an update, without those of the same key before it.
    SELECT event.at, coalesce(event.ordinal, 0) AS ordinal
    FROM {events} AS event
    WHERE event.is_after AND NOT EXISTS (
        SELECT FROM {events} AS other
        WHERE other.kind = 'before' AND {other_of_key} AND other.at = event.at
          AND coalesce(event.ordinal, 0) - coalesce(other.ordinal, 0) IN (0, 1))
), told AS (
    SELECT {event_columns}, event.at, event.sequence, event.starts, event.kind = 'delete' AS deletes,
           {skips} OR event.kind = 'read' AS skips
    FROM {events} AS event
    WHERE event.kind <> 'before'
    UNION ALL
    -- A row as it was before an update that gave it another key: under the old one it is gone.
    SELECT {event_columns}, event.at, event.sequence, event.starts, true, false
    FROM {events} AS event
    WHERE event.kind = 'before'
      AND NOT EXISTS (
          SELECT FROM {events} AS other
          WHERE other.is_after AND {other_of_key} AND other.at = event.at
            AND coalesce(other.ordinal, 0) - coalesce(event.ordinal, 0) IN (0, 1))
      AND ((event.at, coalesce(event.ordinal, 0)) IN (SELECT orphan.at, orphan.ordinal FROM orphan)
           OR (event.at, coalesce(event.ordinal, 0) + 1) IN (SELECT orphan.at, orphan.ordinal FROM orphan))
), chosen AS MATERIALIZED (
    SELECT last.*, row_number() OVER () AS number
    FROM (
        SELECT DISTINCT ON ({told_keys}{each}) told.*
        FROM told
        ORDER BY {told_keys}{each}, told.at DESC, told.sequence DESC, told.skips
    ) AS last
), known AS MATERIALIZED (
    SELECT {first_keys}, version.*
    FROM (
        SELECT {chosen_keys}, min(chosen.starts) AS starts
        FROM chosen
        GROUP BY {chosen_keys}
    ) AS first
    CROSS JOIN LATERAL (
        SELECT {place}, existing.{captured} AS began, existing.{delimited} AS ended, {is_current} AS is_current, {old_columns}
        FROM {target} AS existing
        WHERE {existing_of_first}
          AND existing.{captured} >= coalesce((
              SELECT max(earlier.{captured})
              FROM {target} AS earlier
              WHERE {earlier_of_first} AND earlier.{captured} < first.starts), '-infinity')
    ) AS version
), last AS (
    SELECT DISTINCT ON ({known_keys}) known.*,
           CASE WHEN known.is_current THEN known.began + $3 ELSE known.ended + $2 END AS free
    FROM known
    ORDER BY {known_keys}, known.began DESC
), told_again AS MATERIALIZED (
    -- Events whose effect is there already: a version that begins with them, an end that they made.
    SELECT chosen.number
    FROM chosen
    JOIN known ON {known_of_chosen}
    WHERE NOT chosen.deletes AND known.began {again} chosen.starts AND {known_same}
    UNION
    SELECT chosen.number
    FROM chosen
    JOIN known ON {known_of_chosen}
    WHERE chosen.deletes AND NOT known.is_current AND known.ended = chosen.starts - $2
    EXCEPT
    SELECT chosen.number
    FROM chosen
    JOIN known ON {known_of_chosen}
    WHERE chosen.deletes AND known.began = chosen.starts
), judged AS (
    SELECT event.*
    FROM (
        SELECT chosen.*, last.free, coalesce(last.is_current, false) AS lives, coalesce(chosen.starts < last.free, false) AS is_late,
               coalesce(last.is_current AND chosen.deletes AND chosen.starts < last.began, false) AS is_outlived,
               coalesce(last.is_current AND {last_same}, false) AS is_as_last,
               lag(true) OVER (PARTITION BY {chosen_keys} ORDER BY chosen.at, chosen.sequence, chosen.starts) IS NULL AS is_first
        FROM chosen
        LEFT JOIN last ON {last_of_chosen}
    ) AS event
    WHERE event.number NOT IN (SELECT told_again.number FROM told_again)
      -- Nor does a deletion matter of a record that is not there.
      AND NOT (event.deletes AND event.is_first AND NOT event.lives AND NOT ({keeps_places} AND event.is_late))
), kept AS (
    SELECT judged.*,
           row_number() OVER batch AS turn,
           -- Each version before it lasts for one tick at least, what a deletion leaves need not last at all.
           coalesce(sum(CASE WHEN judged.deletes THEN 0 ELSE 1 END) OVER (batch ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
               * $3 AS versions_before
    FROM (
        SELECT judged.*, {is_void} AS is_void
        FROM judged
        WHERE {stays}
        WINDOW batch AS (PARTITION BY {judged_keys} ORDER BY judged.at, judged.sequence, judged.starts)
    ) AS judged
    WHERE NOT judged.is_void
    WINDOW batch AS (PARTITION BY {judged_keys} ORDER BY judged.at, judged.sequence, judged.starts)
), placed AS (
    SELECT DISTINCT ON ({moved_keys}, moved.start) moved.*
    FROM (SELECT kept.*, {start} AS start FROM kept) AS moved
    ORDER BY {moved_keys}, moved.start, moved.turn DESC
), point AS (
    SELECT {known_columns}, known.began AS start, false AS is_new, known.part, known.place, known.ended, known.is_current,
           false AS deletes, false AS skips, false AS is_late
    FROM known
    UNION ALL
    SELECT {placed_columns}, placed.start, true, NULL, NULL, NULL, NULL,
           placed.deletes, placed.skips, placed.start <> placed.starts OR placed.is_late AND NOT {by_reference}
    FROM placed
), ordered AS (
    SELECT point.*,
           NOT point.is_new AND coalesce(lead(point.start) OVER upward = point.start, false) AS is_replaced,
           point.is_new AND coalesce(lag(point.start) OVER upward = point.start, false) AS replaces,
           lead(point.deletes) OVER upward AS next_deletes,
           lead(point.deletes AND point.is_late) OVER upward AS next_deletes_late,
           last_value(point.deletes) OVER (upward ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS is_gone,
           max(CASE WHEN point.is_current THEN 'infinity' ELSE point.ended END) OVER upward AS known_until
    FROM point
    WINDOW upward AS (PARTITION BY {point_keys} ORDER BY point.start, point.is_new)
), compared AS (
    SELECT point.*,
           lag(point.is_new) OVER upward AS former_is_new, lag(point.deletes) OVER upward AS former_deletes,
           lag(point.is_current) OVER upward AS former_is_current, lag(point.ended) OVER upward AS former_ended,
           lag(point.part) OVER upward AS former_part, lag(point.place) OVER upward AS former_place,
           lag(point.start) OVER upward AS former_start,
           daybook.same(lag(ROW({compared_columns})) OVER upward, ROW({compared_columns})) AS is_as_former
    FROM ordered AS point
    WHERE NOT point.is_replaced
    WINDOW upward AS (PARTITION BY {point_keys} ORDER BY point.start)
), timeline AS (
    SELECT point.*,
           point.is_new AND point.skips AND NOT point.deletes AND {by_reference} AND NOT point.former_is_new AND point.is_as_former
               AND NOT point.former_is_current AND point.former_ended + $2 = point.start AS resumes,
           lead(point.start) OVER upward AS next_start, lead(point.deletes) OVER upward AS ends,
           lead(point.deletes AND point.is_late) OVER upward AS ends_late,
           min(point.start) FILTER (WHERE point.is_new)
               OVER (PARTITION BY {point_keys} ORDER BY point.start ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS next_new,
           point.known_until + $2 > point.start AS is_covered
    FROM compared AS point
    WHERE NOT coalesce(
        point.is_new AND point.skips AND NOT point.deletes AND NOT point.replaces AND point.is_as_former
            AND CASE WHEN point.former_is_new THEN NOT point.former_deletes
                     ELSE point.former_is_current OR point.former_ended + $2 > point.start END, false)
    WINDOW upward AS (PARTITION BY {point_keys} ORDER BY point.start)
), span AS (
    SELECT point.*,
           least(point.next_start - $2, CASE WHEN point.is_covered THEN point.known_until ELSE 'infinity' END) AS until
    FROM timeline AS point
)
SELECT 'withdraw' AS what, point.part, point.place, point.start AS began, NULL::{axis} AS valid_from, NULL::{axis} AS valid_to,
       point.next_deletes_late AS late, false AS returns, point.is_current AND point.is_gone AS ends,
       point.next_deletes AS deletes, {point_columns}
FROM ordered AS point
WHERE point.is_replaced
UNION ALL
SELECT CASE WHEN point.start + $3 > point.next_new THEN 'near' ELSE 'close' END, point.part, point.place, point.start,
       point.next_new, point.next_new - $2, point.ends_late, false, point.is_current AND point.is_gone, point.ends,
       {point_columns}
FROM span AS point
WHERE NOT point.is_new AND (point.is_current OR point.ended > point.next_new - $2) AND point.next_new IS NOT NULL
UNION ALL
SELECT CASE WHEN point.until < point.start + $3 - $2 THEN 'near' WHEN point.resumes THEN 'reopen' ELSE 'open' END,
       point.former_part, point.former_place, CASE WHEN point.resumes THEN point.former_start ELSE point.next_start END, point.start,
       CASE WHEN point.until = 'infinity' THEN {horizon} ELSE point.until END,
       point.is_late,
       NOT coalesce(point.is_covered, true) AND NOT coalesce(point.former_is_new AND NOT point.former_deletes, false) AND NOT coalesce(point.resumes, false),
       false, false, {point_columns}
FROM span AS point
WHERE point.is_new AND NOT point.deletes
UNION ALL
SELECT {refusal}, NULL, NULL, NULL, judged.starts, NULL, true, false, false, false, {judged_columns}
FROM judged
WHERE NOT ({stays})
UNION ALL
-- A record under a key that was changed away, and another event of that key at the same place in the order.
SELECT 'tie', NULL, NULL, NULL, told.at, NULL, false, false, false, false, {told_columns}
FROM (
    SELECT told.*, bool_or(told.deletes) OVER place AND NOT bool_and(told.deletes) OVER place AS ties
    FROM told
    WINDOW place AS (PARTITION BY {told_keys}, told.at, told.sequence)
) AS told
WHERE told.ties
