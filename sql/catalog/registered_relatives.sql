-- Which of some relations have a load or a history registered.
-- $1 their OIDs.
SELECT jsonb_agg(r.target ORDER BY r.target)
FROM (SELECT l.target FROM daybook.load AS l UNION ALL SELECT h.target FROM daybook.history AS h) AS r
WHERE r.target = ANY ($1)
