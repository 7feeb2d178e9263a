-- Which of the functions that a rule calls give another result when it runs again on the same row.
-- $1 their OIDs.
SELECT jsonb_agg(jsonb_build_object(
           'name', p.oid::regprocedure,
           'volatile', p.provolatile = 'v')
       ORDER BY p.oid)
FROM pg_proc AS p
WHERE p.oid = ANY ($1)
  AND (p.provolatile = 'v'
       OR p.pronamespace = 'pg_catalog'::regnamespace
          AND (p.proname IN (
                   'now', 'transaction_timestamp', 'statement_timestamp', 'current_setting', 'current_database',
                   'current_schema', 'current_schemas', 'current_query', 'current_user', 'session_user', 'getpgusername',
                   'pg_backend_pid', 'inet_client_addr', 'inet_client_port', 'inet_server_addr', 'inet_server_port',
                   'pg_postmaster_start_time', 'pg_conf_load_time', 'pg_is_in_recovery', 'pg_my_temp_schema',
                   'pg_current_snapshot', 'txid_current', 'txid_current_if_assigned', 'txid_current_snapshot',
                   'pg_current_xact_id', 'pg_current_xact_id_if_assigned', 'pg_has_role', 'row_security_active',
                   'pg_trigger_depth', 'pg_last_committed_xact')
               OR p.proname ~ '^has_.*_privilege$'
               OR p.proname = 'age' AND p.pronargs = 1))
