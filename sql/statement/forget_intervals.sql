-- Forgets the recorded intervals of a target, which were counted with another calendar.
-- $1 the target.
DELETE FROM daybook.interval_state WHERE target = $1
