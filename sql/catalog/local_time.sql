-- A time that a text names, as the server writes it, without zone.
-- $1 the text.
SELECT ($1::timestamptz AT TIME ZONE 'UTC')::text
