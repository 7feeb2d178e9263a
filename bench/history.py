"""Parts d to g: historize against a bare comparison, the statements that one would write by hand, and other tools."""

import itertools
import os
import sys

from measure import against, interleaved, milliseconds, ratio, report, settle, spread
from tools import tools

KEYS = int(os.environ.get("KEYS", "1000000"))
VERSIONS = [int(versions) for versions in os.environ.get("VERSIONS", "1000000 10000000").split()]
DEPTH = int(os.environ.get("DEPTH", "20"))

# The columns of the source: a key, and ten of many types.
COMPARED = ["name", "code", "category", "amount", "score", "active", "born", "seen", "token", "note"]
COLUMNS = ", ".join(["id", *COMPARED])
HORIZON = "timestamptz '9999-12-31 00:00:00+00'"
DIFFERENT = " or ".join(f"h.{column} is distinct from s.{column}" for column in COMPARED)


def create_source(session, name, keys):
    session.run(f"""
        create table {name} (
            id bigint primary key, name text not null, code varchar(12), category int, amount numeric(12, 2), score float8,
            active boolean, born date, seen timestamptz, token uuid, note text);
        insert into {name}
        select n, 'Customer number ' || n, 'C' || n % 100000, n % 50, n % 100000 + 0.25, sqrt(n), n % 3 > 0,
               date '1950-01-01' + (n % 20000)::int, timestamptz '2020-01-01 00:00+00' + n * interval '37 s',
               md5(n::text)::uuid, case when n % 3 = 0 then 'note ' || n % 1000 end
        from generate_series(1, {keys}) as n;
        vacuum analyze {name}""")


def change_source(session, name, keys, number):
    """The changes of one round: 1 % of the keys get another amount, 0.1 % go, 0.1 % are new; other keys each time."""
    session.run(f"""
        update {name} set amount = amount + 1 where id % 100 = {number};
        delete from {name} where id % 1000 = {990 - number};
        insert into {name}
        select {keys} + {number * keys // 1000} + n, 'New customer ' || n, 'N' || n, 0, n, n, true, '2000-01-01', now(), null, null
        from generate_series(1, {keys // 1000}) as n;
        vacuum analyze {name}""")


def create_by_hand(session, name, rows):
    """A history as one would make it by hand, of these rows. Its horizon is daybook's."""
    session.run(f"""
        create table {name} as
        select {COLUMNS}, transaction_timestamp() as dl_ts_captured, {HORIZON} as dl_ts_delimited from {rows};
        alter table {name} add primary key (id, dl_ts_captured), alter dl_ts_delimited set not null;
        create unique index on {name} (id) where dl_ts_delimited = {HORIZON};
        vacuum analyze {name}""")


def comparison(history, source):
    """What nobody can do without: read the current versions and the source, and compare them."""
    return f"""
        select count(*)
        from (select * from {history} where dl_ts_delimited = {HORIZON}) as h full join {source} as s on s.id = h.id
        where h.id is null or s.id is null or {DIFFERENT}"""


def by_hand(history, source):
    """The three statements."""
    return f"""
        begin;
        update {history} as h set dl_ts_delimited = now() - interval '1 ms'
        from {source} as s where s.id = h.id and h.dl_ts_delimited = {HORIZON} and ({DIFFERENT});
        update {history} as h set dl_ts_delimited = now() - interval '1 ms'
        where h.dl_ts_delimited = {HORIZON} and not exists (select from {source} as s where s.id = h.id);
        insert into {history} ({COLUMNS}, dl_ts_captured, dl_ts_delimited)
        select {COLUMNS}, now(), {HORIZON} from {source} as s
        where not exists (select from {history} as h where h.id = s.id and h.dl_ts_delimited = {HORIZON});
        commit"""


def read(session, *tables):
    """What is read is in memory for all alike."""
    for table in tables:
        session.run(f"select count(*) from {table}")


def same(session, part, histories):
    """All tables hold the same versions, and the same ones are current; `histories` gives the condition for that."""
    first, *others = [f"select {COLUMNS}, {current} as current from {table}" for table, current in histories.items()]
    for other, table in zip(others, list(histories)[1:]):
        differing = session.run(f"""
            select count(*) from (({first} except all {other}) union all ({other} except all {first})) as x""")
        if differing != ["0"]:
            sys.exit(f"part {part}: {table} differs in {differing[0]} versions")


def drop(session, *tables):
    session.run("; ".join(f"drop table {table}" for table in tables))


def part_d(session):
    create_source(session, "customer", KEYS)
    session.run("select * from historize('customer', 'd_daybook', 'id')")
    create_by_hand(session, "d_by_hand", "customer")
    session.run("create table d_bare (like d_daybook including all); insert into d_bare select * from d_daybook")
    histories = {"d_daybook": f"dl_ts_delimited = {HORIZON}", "d_by_hand": f"dl_ts_delimited = {HORIZON}"}
    tables = {"daybook": "d_daybook", "bare": "d_bare", "by hand": "d_by_hand"}
    others = tools(session)
    for tool in others:
        tool.run()
        tables[tool.name] = session.run(tool.table)[0]
        histories[tables[tool.name]] = tool.current

    def measure(name, run):
        def once():
            settle(session, tables[name])
            read(session, tables[name], "customer")
            return run()
        return once

    def bare():
        took = session.time(comparison("d_bare", "customer"))
        session.run(by_hand("d_bare", "customer"))  # keeps it in step, not measured
        return took

    contenders = [
        ("daybook", measure("daybook", lambda: session.time("select * from historize('d_daybook')"))),
        ("bare", measure("bare", bare)),
        ("by hand", measure("by hand", lambda: session.time(by_hand("d_by_hand", "customer")))),
        *((tool.name, measure(tool.name, tool.run)) for tool in others),
    ]
    rounds = itertools.count()

    def before():
        change_source(session, "customer", KEYS, next(rounds))

    before()
    for _, once in contenders:  # the first time, which is not counted
        once()
    seconds = interleaved(contenders, before)
    same(session, "d", histories)
    found = {tool.name: (f"{tool.package} {tool.version()}", tool.aim) for tool in others}
    against(f"d. {KEYS:,} keys, 1 % changed, 0.1 % new, 0.1 % missing", [
        ("the bare comparison", seconds["daybook"], seconds["bare"], 1.25),
        ("three statements by hand", seconds["daybook"], seconds["by hand"], 0.5),
        *((label, seconds["daybook"], seconds[name], aim) for name, (label, aim) in found.items())], "against")
    drop(session, "customer cascade", "d_daybook", "d_bare", "d_by_hand")


def part_e(session):
    create_source(session, "e_source", KEYS)
    session.run("select * from historize('e_source', 'e_daybook', 'id')")
    settle(session, "e_daybook")
    read(session, "e_daybook", "e_source")
    contenders = [
        ("daybook", lambda: session.time("select * from historize('e_daybook')")),
        ("bare", lambda: session.time(comparison("e_daybook", "e_source"))),
    ]
    for _, once in contenders:  # the first time, which is not counted
        once()
    seconds = interleaved(contenders)
    against(f"e. {KEYS:,} keys, nothing changed", [("the bare comparison", seconds["daybook"], seconds["bare"], 1.25)], "against")
    drop(session, "e_daybook", "e_source")


def create_events(session, name, keys, number):
    """10,000 rows: 4,000 updates with the rows before and after, 1,000 deletes, 1,000 inserts; other keys each time."""
    columns = COLUMNS.replace("amount", "amount + {}")
    key = f"1 + (({number}::bigint * 5000 + n) * 7919) % {keys}"
    session.run(f"""
        truncate {name}_events;
        insert into {name}_events
        select {columns.format(0)}, type, clock_timestamp()
        from generate_series(0, 4999) as n join {name}_source on id = {key}
             cross join lateral unnest(case when n < 4000 then array['update_preimage'] else array['delete'] end) as type;
        insert into {name}_events
        select {columns.format(1)}, 'update_postimage', clock_timestamp()
        from generate_series(0, 3999) as n join {name}_source on id = {key};
        insert into {name}_events
        select {keys} + {number * 1000} + n, 'New customer ' || n, 'N' || n, 0, n, n, true, '2000-01-01', now(), null, null,
               'insert', clock_timestamp()
        from generate_series(1, 1000) as n;
        vacuum analyze {name}_events""")


def events_by_hand(history, events):
    """The statements for change events: the last one of each key counts."""
    last = f"(select distinct on (id) * from {events} where _change_type <> 'update_preimage' order by id, _commit_timestamp desc)"
    return f"""
        begin;
        update {history} as h set dl_ts_delimited = e._commit_timestamp - interval '1 ms'
        from {last} as e where e.id = h.id and h.dl_ts_delimited = {HORIZON};
        insert into {history} ({COLUMNS}, dl_ts_captured, dl_ts_delimited)
        select {COLUMNS}, _commit_timestamp, {HORIZON} from {last} as e where _change_type <> 'delete';
        commit"""


def part_f(session):
    measures, rounds = [], itertools.count()
    for size in VERSIONS:
        name = f"f_{size}"
        create_source(session, f"{name}_source", size)
        session.run(f"""
            create table {name}_events (like {name}_source, _change_type text, _commit_timestamp timestamptz);
            select * from historize('{name}_source', '{name}_daybook', 'id')""")
        create_by_hand(session, f"{name}_by_hand", f"{name}_source")
        settle(session, f"{name}_daybook")
        calls = {
            "daybook": f"select * from historize('{name}_events', '{name}_daybook')",
            "by hand": events_by_hand(f"{name}_by_hand", f"{name}_events"),
        }
        measures += [((size, contender), lambda sql=sql: session.time(sql)) for contender, sql in calls.items()]

    def before():
        number = next(rounds)
        for size in VERSIONS:
            create_events(session, f"f_{size}", size, number)
        settle(session, *(f"f_{size}_{contender}" for size in VERSIONS for contender in ("daybook", "by_hand")))

    before()
    for _, once in measures:  # warms the caches
        once()
    seconds = interleaved(measures, before)
    for size in VERSIONS:
        same(session, "f", {f"f_{size}_{contender}": f"dl_ts_delimited = {HORIZON}" for contender in ("daybook", "by_hand")})
    rows = [("versions in the table", "daybook, ms", "", "of the smallest", "by hand, ms", "", "of the smallest", "ratio")]
    smallest = VERSIONS[0]
    for size in VERSIONS:
        ours, base = seconds[size, "daybook"], seconds[size, "by hand"]
        rows.append((f"{size:,}",
                     milliseconds(ours), spread(ours), f"{ratio(ours, seconds[smallest, 'daybook']):.2f}",
                     milliseconds(base), spread(base), f"{ratio(base, seconds[smallest, 'by hand']):.2f}",
                     f"{ratio(ours, base):.2f}"))
    report("f. Change events, 10,000 rows (aim: the same at every size)", rows)
    for size in VERSIONS:
        drop(session, *(f"f_{size}_{table}" for table in ("daybook", "by_hand", "events", "source")))


def part_g(session):
    create_source(session, "g_source", KEYS)
    session.run("select * from historize('g_source', 'g_flat', 'id')")
    # As if each of the runs before had changed every row: the versions of a run lie together.
    session.run("create table g_deep (like g_flat)")
    others = ", ".join(column for column in COMPARED if column != "amount")
    for run in range(DEPTH, 0, -1):
        session.run(f"""
            insert into g_deep (id, amount, {others}, dl_ts_captured, dl_ts_delimited)
            select id, amount - {run}, {others}, dl_ts_captured - {run} * interval '1 day',
                   dl_ts_captured - {run - 1} * interval '1 day' - interval '1 ms'
            from g_flat order by dl_ts_captured, id""")
    session.run(f"""
        insert into g_deep select * from g_flat;
        alter table g_deep add primary key (id, dl_ts_captured);
        create unique index on g_deep (id) where dl_ts_delimited = {HORIZON};
        vacuum analyze g_deep;
        select * from historize('g_source', 'g_deep', 'id')""")
    bare = {}

    def measure(table):
        def once():
            settle(session, table)
            sql = comparison(table, "g_source")
            session.run(sql)
            bare.setdefault(table, []).append(session.time(sql))
            return session.time(f"select * from historize('{table}')")
        return once

    contenders = [(table, measure(table)) for table in ("g_flat", "g_deep")]
    rounds = itertools.count()

    def before():
        change_source(session, "g_source", KEYS, next(rounds))

    before()
    for _, once in contenders:  # the first time, which is not counted
        once()
    bare.clear()
    seconds = interleaved(contenders, before)
    rows = [("versions in the table", "daybook, ms", "", "of the smallest", "the bare comparison, ms", "", "of the smallest", "ratio",
             "ratio of processor time")]
    for table, depth in (("g_flat", 0), ("g_deep", DEPTH)):
        rows.append((f"{KEYS * (depth + 1):,}",
                     milliseconds(seconds[table]), spread(seconds[table]), f"{ratio(seconds[table], seconds['g_flat']):.2f}",
                     milliseconds(bare[table]), spread(bare[table]), f"{ratio(bare[table], bare['g_flat']):.2f}",
                     f"{ratio(seconds[table], bare[table]):.2f}", f"{ratio(seconds[table], bare[table], 'processor'):.2f}"))
    report(f"g. As d, with no and with {DEPTH} closed versions of each key (aim: the same)", rows)
    drop(session, "g_deep", "g_flat", "g_source")
