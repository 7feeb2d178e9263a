"""Calls daybook as psycopg 2 and 3 do: every form of bound and column list, typed and untyped, prepared and not.

    drivers.py DATABASE

The server is found through PGHOST, PGPORT and PGUSER. Prints a line for each driver; fails at the first difference.
"""

import datetime as dt
import decimal
import json
import sys

import psycopg
import psycopg2
from psycopg.types.json import Jsonb

BERLIN = dt.timezone(dt.timedelta(hours=2))
DAY = dt.date(2026, 9, 12)
# The same instant in every form: the start of 12 September in Berlin.
STARTS = {
    "date as text": "2026-09-12",
    "local time as text": "2026-09-12 00:00",
    "instant as text": "2026-09-11 22:00+00",
    "ISO 8601": "2026-09-11T22:00:00Z",
    "date": DAY,
    "naive datetime": dt.datetime(2026, 9, 12),
    "aware datetime": dt.datetime(2026, 9, 12, tzinfo=BERLIN),
    "aware datetime in UTC": dt.datetime(2026, 9, 11, 22, tzinfo=dt.timezone.utc),
}
ENDS = {
    "date as text": "2026-09-14",
    "date": DAY + dt.timedelta(days=2),
    "naive datetime": dt.datetime(2026, 9, 14),
    "aware datetime": dt.datetime(2026, 9, 14, tzinfo=BERLIN),
}
EXPECTED = [
    (dt.datetime(2026, 9, 11, 22, tzinfo=dt.timezone.utc), "loaded", 2),
    (dt.datetime(2026, 9, 12, 22, tzinfo=dt.timezone.utc), "loaded", 2),
]
LISTS = {
    "list": ["id", "account"],
    "tuple of one": ["id"],
    "array as text": "{id,account}",
    "names with commas": "id, account",
    "one name": "id",
    "none": None,
}
SETUP = """
    DROP TABLE IF EXISTS src, fact;
    CREATE TABLE src (id int, account text, at timestamptz);
    INSERT INTO src SELECT n, 'A-' || n % 3, timestamptz '2026-09-11 01:00+02' + n * interval '12 hours' FROM generate_series(0, 9) AS n;
    CREATE TABLE fact (id int, account text, at timestamptz, interval_start timestamptz NOT NULL);
    SELECT register_load('fact', 'src', time_column => 'at', zone => 'Europe/Berlin');
    SELECT register_rule('fact', 'some', filter => 'id >= param.least');
"""
LOAD = """
    SELECT interval_start, status, rows_inserted
    FROM load_interval(%s, %s, %s, wide => %s, params => %s, on_empty => %s, as_of => %s, max_deleted_percent => %s)
"""


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r} instead of {expected!r}")


def calls(name, connection, json_value, execute):
    """All combinations on one connection. `execute` runs a statement and returns its rows."""
    count = 0
    execute(SETUP)
    for zone in "UTC", "Asia/Tokyo":
        execute(f"SET timezone = '{zone}'")
        for start_name, start in STARTS.items():
            for end_name, end in ENDS.items():
                wide = count % 2 == 0
                rows = execute(LOAD, ("fact", start, end, wide, json_value({"least": 0}), "replace", None, None))
                check(f"{name}: {start_name} to {end_name} in {zone}", rows, EXPECTED)
                count += 1
        # Words, no end, no start, and a clock.
        as_of = dt.datetime(2026, 9, 14, 10, tzinfo=dt.timezone.utc)
        for start, end in ("yesterday", "today"), ("2026-09-13", None), ("2026-09-13", "last_closed"):
            rows = execute(LOAD, ("fact", start, end, False, json_value({"least": 0}), "skip", as_of, 100))
            check(f"{name}: {start} to {end}", rows, EXPECTED[1:])
        rows = execute(LOAD, ("fact", None, "2026-09-14", True, json_value({"least": 0}), None, None, decimal.Decimal("12.5")))
        check(f"{name}: no start", rows, EXPECTED)
        execute("SELECT mark_stale(%s, %s, %s, %s)", ("fact", DAY, "2026-09-13", "a note"))
        rows = execute("SELECT daybook.last_closed(%s, %s)", ("fact", as_of))
        check(f"{name}: last_closed", rows, [(dt.datetime(2026, 9, 13, 22, tzinfo=dt.timezone.utc),)])
        rows = execute("SELECT array_length(daybook.grain_boundaries('1 day', %s, %s, %s), 1)", ("UTC", DAY, "2026-09-14"))
        check(f"{name}: grain_boundaries", rows, [(3,)])
    for list_name, columns in LISTS.items():
        execute(
            "SELECT register_load(%s, %s, %s, zone => %s, keys => %s, history_starts => %s, settle => %s)",
            ("fact", "src", "at", "Europe/Berlin", columns, DAY, dt.timedelta(hours=1)),
        )
        rows = execute("SELECT keys::text[] FROM daybook.loads")
        expected = None if columns is None else ["id", "account"] if "account" in columns else ["id"]
        check(f"{name}: {list_name}", rows, [(expected,)])
        count += 1
    return count


def psycopg2_calls(database):
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    cursor = connection.cursor()

    def execute(statement, values=None):
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else None

    count = calls("psycopg2", connection, json.dumps, execute)
    print(f"psycopg2 {psycopg2.__version__.split()[0]}: {count} calls")


def psycopg3_calls(database, cursor_factory, **options):
    with psycopg.connect(f"dbname={database}", autocommit=True, cursor_factory=cursor_factory) as connection:
        connection.prepare_threshold = options.pop("prepare_threshold", 5)

        def execute(statement, values=None):
            cursor = connection.execute(statement, values, **(options if values else {}))
            return cursor.fetchall() if cursor.description else None

        name = f"psycopg {psycopg.__version__} {cursor_factory.__name__} {options}"
        print(f"{name}: {calls(name, connection, Jsonb, execute)} calls")


if __name__ == "__main__":
    psycopg2_calls(sys.argv[1])
    # Parameters on the server, with their types as psycopg sends them: never, at once and after a while prepared; in binary; and on the
    # client, as psycopg2 does.
    psycopg3_calls(sys.argv[1], psycopg.Cursor, prepare_threshold=None)
    psycopg3_calls(sys.argv[1], psycopg.Cursor, prepare=True)
    psycopg3_calls(sys.argv[1], psycopg.Cursor, prepare_threshold=2)
    psycopg3_calls(sys.argv[1], psycopg.Cursor, binary=True)
    psycopg3_calls(sys.argv[1], psycopg.ClientCursor)
