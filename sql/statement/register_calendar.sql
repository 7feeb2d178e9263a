-- Notes what the intervals of a target are counted with.
-- $1 the target; $2 the calendar in words.
UPDATE daybook.target SET calendar = $2 WHERE target = $1 AND calendar IS DISTINCT FROM $2
