-- Transactions that may still commit rows into an interval: they began before it closed and hold a write lock on something that
-- the intake reads, partitions included. VACUUM's lock does not count. A prepared transaction has no pid, and when it began
-- nobody knows: it always counts. Its name is found by the lock that it holds on its own number.
-- $1 what is read; $2 when the interval closed.
WITH RECURSIVE part AS (
    SELECT root.oid FROM unnest($1) AS root (oid)
    UNION
    SELECT i.inhrelid FROM part JOIN pg_inherits AS i ON i.inhparent = part.oid
), held AS MATERIALIZED (
    SELECT * FROM pg_locks
), writer AS (
    SELECT l.virtualtransaction, l.pid, min(l.relation::regclass::text) AS relation
    FROM held AS l
    LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.granted
      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
      AND l.relation IN (SELECT part.oid FROM part)
      AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      AND l.pid IS DISTINCT FROM pg_backend_pid()
      AND (a.xact_start IS NULL OR a.xact_start < $2)
    GROUP BY l.virtualtransaction, l.pid
)
SELECT jsonb_agg(jsonb_build_object(
           'transaction', w.virtualtransaction,
           'pid', w.pid,
           'relation', w.relation,
           'gid', (SELECT p.gid
                   FROM held AS own
                   JOIN pg_prepared_xacts AS p ON p.transaction = own.transactionid
                   WHERE own.virtualtransaction = w.virtualtransaction AND own.pid IS NULL AND w.pid IS NULL
                   LIMIT 1)))
FROM writer AS w
