MODEL (
    name sqlmesh.history,
    kind SCD_TYPE_2_BY_COLUMN (
        unique_key id,
        columns *,
        execution_time_as_valid_from TRUE,
        invalidate_hard_deletes TRUE
    ),
    cron '@daily'
);

SELECT
    id::bigint, name::text, code::varchar(12), category::int, amount::numeric(12, 2), score::double precision,
    active::boolean, born::date, seen::timestamptz, token::uuid, note::text
FROM public.customer
