-- Notes that a history has views.
-- $1 the target.
UPDATE daybook.history SET has_views = true WHERE target = $1
