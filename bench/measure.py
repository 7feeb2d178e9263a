"""What every part of the benchmarks needs: a session that is timed, rounds, medians and tables of them."""

import os
import re
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

ROUNDS = int(os.environ.get("ROUNDS", "5"))
END = "---- end"


class Took(NamedTuple):
    """How long statements took, in seconds: by the clock, and of the server's processes on a processor."""

    clock: float
    processor: float


class Session:
    """A psql that stays open."""

    def __init__(self):
        psql = os.path.join(os.environ["DAYBOOK_BINDIR"], "psql")
        self.process = subprocess.Popen(
            [psql, "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.run("set client_min_messages = warning; set timezone = 'UTC'")
        self.backend = self.run("select pg_backend_pid()")[0]

    def run(self, sql):
        """Runs statements, each in a transaction of its own, and returns the lines that they print."""
        self.process.stdin.write(f"{sql};\n\\echo {END}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == END:
                return lines
            lines.append(line.rstrip("\n"))
        sys.exit("a statement failed:\n" + sql)

    def on_processor(self):
        with open(f"/proc/{self.backend}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9

    def time(self, sql):
        clock, processor, ended = time.perf_counter(), self.on_processor(), of_ended_processes()
        self.run(sql)
        return Took(time.perf_counter() - clock, self.on_processor() - processor + of_ended_processes() - ended)


def of_ended_processes():
    """The time on a processor of all processes of the server that have ended: of parallel workers, for one."""
    with open(os.path.join(os.environ["DAYBOOK_PGDATA"], "postmaster.pid"), encoding="ascii") as file:
        postmaster = file.readline().strip()
    with open(f"/proc/{postmaster}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


class Log:
    """The server's log, from here on."""

    def __init__(self):
        self.file = open(os.path.join(os.path.dirname(os.environ["DAYBOOK_PGDATA"]), "log"), encoding="utf-8", errors="replace")
        self.file.seek(0, os.SEEK_END)

    def seconds(self, application):
        """The sum of the durations of this application's statements."""
        duration = re.compile(r"\S+ \S+ \S+ \[\d+\] " + re.escape(application) + r" \S+ LOG:  duration: ([0-9.]+) ms")
        found = [match for match in map(duration.match, self.file) if match]
        return sum(float(match[1]) for match in found) / 1000


def settle(session, *tables):
    """Between two measurements: no dead rows, no dirty pages left by the one before."""
    session.run("; ".join([*(f"vacuum analyze {table}" for table in tables), "checkpoint"]))


def interleaved(contenders, before=None):
    """Rounds of all contenders, each round in another order; seconds by name. What `before` does precedes each round."""
    seconds = {name: [] for name, _ in contenders}
    for number in range(ROUNDS):
        turn = number % len(contenders)
        if before:
            before()
        for name, measure in contenders[turn:] + contenders[:turn]:
            seconds[name].append(measure())
    return seconds


def median(values, kind="clock"):
    return statistics.median(getattr(value, kind) for value in values)


def milliseconds(values):
    return f"{median(values) * 1000:,.1f}"


def spread(values):
    """Half the range, in percent of the median: how noisy the machine was."""
    clocks = [value.clock for value in values]
    return f"±{(max(clocks) - min(clocks)) / 2 / statistics.median(clocks) * 100:.0f} %"


def ratio(values, base, kind="clock"):
    return median(values, kind) / median(base, kind)


def report(title, rows):
    print(f"\n{title}")
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) if column == 0 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))
    sys.stdout.flush()


def against(title, pairs, base_name="by hand"):
    """A table of pairs of measurements: daybook's, and the one it is held against, with the ratio aimed at."""
    rows = [("", "daybook, ms", "", f"{base_name}, ms", "", "ratio", "aim", "", "ratio of processor time")]
    for label, ours, base, aim in pairs:
        found = ratio(ours, base)
        rows.append((label, milliseconds(ours), spread(ours), milliseconds(base), spread(base), f"{found:.2f}",
                     f"{aim:.2f}" if aim else "", ("met" if found <= aim else "missed") if aim else "",
                     f"{ratio(ours, base, 'processor'):.2f}"))
    report(title, rows)
