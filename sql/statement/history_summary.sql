-- How many actions of each kind there are, and the newest instant at which a version begins or ends by them, in microseconds
-- since 2000-01-01.
-- $2 the unit of the time axis.
SELECT jsonb_build_object(
           'opened', count(*) FILTER (WHERE action.what = 'open'),
           'closed', count(*) FILTER (WHERE action.what = 'close'),
           'ended', count(*) FILTER (WHERE action.what IN ('close', 'withdraw') AND action.ends),
           'deletions', count(*) FILTER (WHERE action.what IN ('close', 'withdraw') AND action.deletes),
           'withdrawn', count(*) FILTER (WHERE action.what = 'withdraw'),
           'reopened', count(*) FILTER (WHERE action.what = 'reopen'),
           'rehashed', count(*) FILTER (WHERE action.what = 'rehash'),
           'late', count(*) FILTER (WHERE action.late),
           'ignored', count(*) FILTER (WHERE action.what = 'ignore'),
           'reappeared', count(*) FILTER (WHERE action.what = 'open' AND action.returns),
           'duplicates', count(*) FILTER (WHERE action.what = 'duplicate'),
           'refused', count(*) FILTER (WHERE action.what IN ('near', 'outside', 'late', 'tie')),
           'infinite', count(*) FILTER (WHERE action.what = 'open' AND (NOT isfinite(action.valid_from) OR action.valid_from >= {horizon})),
           'null_keys', count(*) FILTER (WHERE {any_key_null}),
           'newest', (extract(epoch FROM max(CASE action.what WHEN 'open' THEN action.valid_from
                                                              WHEN 'close' THEN action.valid_to + $2 END)
                                             FILTER (WHERE isfinite(action.valid_from) IS NOT FALSE)
                                         - {epoch}) * 1000000)::int8)
FROM {actions} AS action
