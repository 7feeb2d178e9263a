-- An instant that a text names, in microseconds since 2000-01-01; a text without offset means UTC.
-- $1 the text.
SELECT (extract(epoch FROM $1::timestamptz) * 1000000)::bigint - 946684800000000
