-- Holds a name that may not stand for anything yet, until the transaction ends.
-- $1 the name.
SELECT 1 FROM pg_advisory_xact_lock(hashtextextended('daybook ' || $1, 0))
