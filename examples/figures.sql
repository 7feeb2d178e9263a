-- Helpers of the demo: they compare a table with what its source and the rules in force say it must hold.
-- Nothing here is needed to use daybook.

create schema demo;

create table demo.step (number integer generated always as identity, as_known boolean not null);

create type demo.figures as (runs bigint, rows bigint, total numeric, missing text, duplicated text, wrong_amount text);

create type demo.shown as (figures text, runs bigint, rows bigint, total numeric, missing text, duplicated text, "wrong amount" text);

-- The figures of a target at a moment: what is loaded, against the source rows committed by then with the rules applied by hand.
create function demo.figures(target text, moment timestamptz, negative text[]) returns demo.figures
language plpgsql as $$
declare
    here demo.figures;
begin
    execute format($query$
        with due as (
            select txn_id, case when txn_type = any ($2) then -amount else amount end as amount
            from src_transactions
            where updated_at <= $1 and left(account_id, 5) <> 'TEST-'
        ), loaded as (
            select txn_id, count(*) as copies, min(amount) as amount from %1$I group by txn_id
        ), compared as (
            select txn_id, l.copies is null as is_missing, l.copies > 1 as is_double, l.amount <> d.amount as is_wrong
            from due as d full join loaded as l using (txn_id)
        )
        select (select count(*) from daybook.runs where target = $3 and status = 'loaded'),
               (select count(*) from %1$I),
               (select sum(amount) from %1$I),
               coalesce(string_agg(txn_id, ', ' order by txn_id) filter (where is_missing), 'none'),
               coalesce(string_agg(txn_id, ', ' order by txn_id) filter (where is_double), 'none'),
               case when count(*) filter (where is_wrong) < 4
                    then coalesce(string_agg(txn_id, ', ' order by txn_id) filter (where is_wrong), 'none')
                    else count(*) filter (where is_wrong) || ' chargebacks' end
        from compared$query$, target)
    into here
    using moment, negative, target::regclass;
    return here;
end $$;

-- One step: the figures as they are, above those known beforehand, which were worked out without daybook.
create function demo.check_step(target text, moment timestamptz, negative text[],
    runs bigint, rows bigint, total numeric, missing text default 'none', wrong_amount text default 'none')
returns setof demo.shown
language plpgsql as $$
declare
    here demo.figures := demo.figures(target, moment, negative);
    known demo.figures := row(runs, rows, total, missing, 'none', wrong_amount);
begin
    insert into demo.step (as_known) values (here is not distinct from known);
    return query select 'loaded', (here).* union all select 'expected', (known).*;
end $$;
