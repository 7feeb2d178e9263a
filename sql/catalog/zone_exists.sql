-- The name of a time zone as the server's list spells it; no row if the list does not have it.
-- $1 the name, in any case.
SELECT to_jsonb(z.name) FROM pg_timezone_names AS z WHERE lower(z.name) = lower($1)
