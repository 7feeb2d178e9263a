"""Parts a to c: load_interval against the two statements that one would write by hand."""

import os
import sys

from measure import against, interleaved, milliseconds, ratio, report, settle, spread

WIDE_ROWS = int(os.environ.get("WIDE_ROWS", "1500000"))
SIZES = [int(size) for size in os.environ.get("SIZES", "10000 1000000 20000000").split()]
DAYS = 1095

# The rules of every part, as daybook keeps them and as one would write them by hand.
KEPT = "left(account, 5) <> 'TEST-'"
AMOUNT = "case when kind = 'REFUND' then -amount else amount end"


def create(session, name, rows, days):
    """A source and two targets, one for daybook and one for the statements written by hand."""
    session.run(f"""
        create table {name}_source (id bigint, account text, kind text, amount numeric(12, 2), at timestamptz);
        insert into {name}_source
        select n, 'A-' || n % 1000, case n % 20 when 0 then 'REFUND' else 'PURCHASE' end, n % 500 + 0.25,
               to_timestamp(n::float8 * 86400 * {days} / {rows})
        from generate_series(0, {rows} - 1) as n;
        create index on {name}_source (at);
        vacuum analyze {name}_source""")
    for target in (f"{name}_daybook", f"{name}_by_hand"):
        session.run(f"""
            create table {target} (like {name}_source, interval_start timestamptz not null, loaded_at timestamptz)
                with (autovacuum_enabled = false);
            create index on {target} (interval_start)""")
    session.run(f"""
        select register_load('{name}_daybook', '{name}_source', time_column => 'at');
        select register_rule('{name}_daybook', 'drop_test_accounts', filter => $$ {KEPT} $$);
        select register_rule('{name}_daybook', 'sign_amounts', column_name => 'amount', expression => $$ {AMOUNT} $$)""")


def by_hand(name, start, end):
    """The two statements."""
    return (f"delete from {name}_by_hand where interval_start >= {start} and interval_start < {end}",
            f"""insert into {name}_by_hand (id, account, kind, amount, at, interval_start, loaded_at)
                select id, account, kind, {AMOUNT}, at, date_trunc('day', at, 'UTC'), now()
                from {name}_source
                where at >= {start} and at < {end} and {KEPT}""")


def day(number):
    return f"timestamptz '1970-01-01 00:00+00' + {number} * interval '1 day'"


def same(session, name):
    """Both ways must have written the same rows."""
    columns = "id, account, kind, amount, at, interval_start"
    differing = session.run(f"""
        select count(*) from (
            (select {columns} from {name}_daybook except all select {columns} from {name}_by_hand)
            union all
            (select {columns} from {name}_by_hand except all select {columns} from {name}_daybook)) as x""")
    if differing != ["0"]:
        sys.exit(f"the tables of part {name} differ in {differing[0]} rows")


def part_a(session):
    create(session, "wide", WIDE_ROWS, DAYS)
    deletion, insertion = by_hand("wide", day(0), day(DAYS))
    calls = {
        "daybook": f"select count(*) from load_interval('wide_daybook', {day(0)}, {day(DAYS)}, wide => true)",
        "by_hand": f"begin; {deletion}; {insertion}; commit",
    }
    seconds = {"first": {}, "rerun": {}}

    def measure(contender, kind):
        def once():
            table = f"wide_{contender}"
            if kind == "first":
                session.run(f"truncate {table}")
            settle(session, table, "daybook.interval_state")
            return session.time(calls[contender])
        return once

    for kind in seconds:
        for name in calls:  # the first time, which is not counted
            measure(name, kind)()
        seconds[kind] = interleaved([(name, measure(name, kind)) for name in calls])
    same(session, "wide")
    against(f"a. {WIDE_ROWS:,} rows of {DAYS:,} days in one wide run", [
        ("first load", seconds["first"]["daybook"], seconds["first"]["by_hand"], 1.1),
        ("rerun", seconds["rerun"]["daybook"], seconds["rerun"]["by_hand"], 1.1)])


def part_b(session):
    rows = DAYS * 10
    create(session, "small", rows, DAYS)
    deletion, insertion = by_hand("small", "day", "day + interval '1 day'")
    days = f"generate_series({day(0)}, {day(DAYS - 1)}, '1 day')"
    loop = "do $$ declare day timestamptz; begin for day in select " + days + " loop {} end loop; end $$"
    one = "perform * from load_interval('small_daybook', day, day + interval '1 day');"
    contenders = {
        "one call": f"select count(*) from load_interval('small_daybook', {day(0)}, {day(DAYS)})",
        "calls": loop.format(one),
        "calls, commits": loop.format(one + " commit;"),
        "by hand": loop.format(f"{deletion}; {insertion};"),
        "by hand, commits": loop.format(f"{deletion}; {insertion}; commit;"),
    }

    def once(sql):
        settle(session, "small_daybook", "small_by_hand", "daybook.interval_state", "daybook.run_interval", "daybook.run")
        return session.time(sql)

    # What takes less than a second is the best of three each time.
    measures = [(name, lambda sql=sql, times=1 if "calls" in name else 3: min(once(sql) for _ in range(times)))
                for name, sql in contenders.items()]
    for _, measure in measures:  # the first load, which is not counted
        measure()
    seconds = interleaved(measures)
    same(session, "small")
    against(f"b. {DAYS:,} daily loads of a table of {rows:,} rows, log included", [
        ("one call", seconds["one call"], seconds["by hand"], 1.5),
        (f"{DAYS:,} calls, one transaction", seconds["calls"], seconds["by hand"], 1.5),
        (f"{DAYS:,} calls, a commit each", seconds["calls, commits"], seconds["by hand, commits"], 1.5)])


def part_c(session):
    measures = []
    for size in SIZES:
        name, days = f"size_{size}", size // 1000
        create(session, name, size, days)
        deletion, insertion = by_hand(name, day(0), day(days))
        session.run(f"select count(*) from load_interval('{name}_daybook', {day(0)}, {day(days)}, wide => true)")
        session.run(insertion)
        settle(session, f"{name}_daybook", f"{name}_by_hand", "daybook.interval_state", "daybook.run_interval")
        middle = days // 2
        deletion, insertion = by_hand(name, day(middle), day(middle + 1))
        calls = {
            "daybook": f"select count(*) from load_interval('{name}_daybook', {day(middle)}, {day(middle + 1)})",
            "by_hand": f"begin; {deletion}; {insertion}; commit",
        }
        measures += [((size, contender), lambda sql=sql: session.time(sql)) for contender, sql in calls.items()]
    session.run("checkpoint")
    for _, once in measures:  # warms the caches
        once()
    seconds = interleaved([(key, lambda once=once: min(once(), once(), once())) for key, once in measures])
    rows = [("rows in the table", "daybook, ms", "", "of the smallest", "by hand, ms", "", "of the smallest")]
    smallest = SIZES[0]
    for size in SIZES:
        ours, base = seconds[size, "daybook"], seconds[size, "by_hand"]
        rows.append((f"{size:,}",
                     milliseconds(ours), spread(ours), f"{ratio(ours, seconds[smallest, 'daybook']):.2f}",
                     milliseconds(base), spread(base), f"{ratio(base, seconds[smallest, 'by_hand']):.2f}"))
    report("c. One day of 1,000 rows loaded again (aim: the same at every size)", rows)
