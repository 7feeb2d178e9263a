-- Which of some relations have a load registered.
-- $1 their OIDs.
SELECT jsonb_agg(l.target ORDER BY l.target) FROM daybook.load AS l WHERE l.target = ANY ($1)
