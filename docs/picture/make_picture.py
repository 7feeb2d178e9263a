#!/usr/bin/env python3
"""Draws docs/picture/demo.svg from the real output of the demo.

    make demo >demo.txt
    docs/picture/make_picture.py <demo.txt >docs/picture/demo.svg

The picture shows parts of the output, each from one line to another, as they
stand; long lines are wrapped as a terminal would. It fails when the demo no
longer prints one of the parts.
"""

import re
import sys
import textwrap
from html import escape

WIDTH = 98  # characters in a line
CHARACTER, LINE, SIZE, MARGIN, BAR = 8.43, 19, 14, 22, 34  # pixels

# The first and the last line of each part, in the order of the output.
PARTS = [
    (r"select register_load\('fact_daily'", r"expression => "),
    (r"select count\(\*\) as days, sum\(rows_inserted\)", r" expected "),
    (r"That table took 67 runs", r"^ +\d+$"),
    (r"select \* from load_interval\('fact_wide', '2026-09-01', '2026-10-01'", r"^HINT:"),
    (r"from historize\('stg_airports'", r" loaded "),
    (r"^ published ", r"^ 2026-09-05 "),
    (r"^from airports where icao = 'KLSF'", r" 9999-12-31 "),
    (r"from airports_as_of\('2025-06-01'\)", r"^ WBGY "),
]

COLORS = {
    "panel": "#22262e", "bar": "#2d323c", "text": "#c9d1d9", "sql": "#f0f3f6", "keyword": "#79b8ff",
    "string": "#a5d6a7", "notice": "#e3b341", "error": "#ff8a80", "dim": "#8b949e",
}
KEYWORDS = r"\b(?:select|from|with|as|where|table|union all|except all|case|when|then|else|end|true)\b"


def excerpt(lines):
    """The lines of all parts, with an empty line between two."""
    shown, at = [], 0

    def find(pattern):
        for number in range(at, len(lines)):
            if re.search(pattern, lines[number]):
                return number
        sys.exit(f"the output lacks a line that matches {pattern}")

    for first, last in PARTS:
        start = at = find(first)
        while start > 0 and lines[start - 1].startswith("select "):
            start -= 1  # the statement begins on the line before
        at = find(last) + 1
        shown += ([""] if shown else []) + lines[start:at]
    return shown


def wrapped(line):
    if len(line) <= WIDTH:
        return [line]
    return textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False)


def pieces(line, kind):
    """A line, cut where its color changes."""
    if kind != "sql":
        return [(kind, line)]
    found, done = [], 0
    for match in re.finditer(rf"'[^']*'|\$\$.*?\$\$|{KEYWORDS}", line):
        found.append(("sql", line[done:match.start()]))
        found.append(("string" if match[0][0] in "'$" else "keyword", match[0]))
        done = match.end()
    found.append(("sql", line[done:]))
    return [(color, text) for color, text in found if text]


def kinds(lines):
    """Each line with what it is: the text of a statement ends with its semicolon."""
    in_sql = False
    for line in lines:
        if re.match(r"(select|with|create) ", line):
            in_sql = True
        if in_sql:
            yield line, "sql"
            in_sql = not line.endswith(";")
        elif line.startswith("NOTICE:"):
            yield line, "notice"
        elif line.startswith("ERROR:"):
            yield line, "error"
        elif re.match(r"(DETAIL|HINT):", line) or re.fullmatch(r"[-+]+", line):
            yield line, "dim"
        else:
            yield line, "text"


def main():
    lines = [line.rstrip() for line in sys.stdin]
    rows = [(part, kind) for line, kind in kinds(excerpt(lines)) for part in wrapped(line)]
    width = round(2 * MARGIN + WIDTH * CHARACTER)
    height = BAR + MARGIN + len(rows) * LINE + MARGIN // 2
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
          f' role="img" aria-label="Part of the output of make demo">')
    print("<style>text { font: %spx ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;"
          " white-space: pre }" % SIZE)
    print(" ".join(f".{name} {{ fill: {color} }}" for name, color in COLORS.items()) + "</style>")
    print(f'<rect class="panel" width="{width}" height="{height}" rx="10"/>')
    print(f'<path class="bar" d="M0 {BAR} V10 a10 10 0 0 1 10 -10 H{width - 10} a10 10 0 0 1 10 10 V{BAR} Z"/>')
    for number, color in enumerate(("#ec6a5e", "#f4bf4f", "#61c554")):
        print(f'<circle cx="{20 + 20 * number}" cy="{BAR // 2}" r="6" fill="{color}"/>')
    print(f'<text class="dim" x="{width // 2}" y="{BAR // 2 + 5}" text-anchor="middle">make demo</text>')
    for number, (line, kind) in enumerate(rows):
        y = BAR + MARGIN + number * LINE + SIZE - 4
        column = 0
        for color, text in pieces(line, kind):
            indent = len(text) - len(text.lstrip(" "))
            visible = text.strip(" ")
            if visible:
                x = MARGIN + (column + indent) * CHARACTER
                length = len(visible) * CHARACTER
                print(f'<text class="{color}" x="{x:.1f}" y="{y}" textLength="{length:.1f}" xml:space="preserve">'
                      f"{escape(visible)}</text>")
            column += len(text)
    print("</svg>")


if __name__ == "__main__":
    main()
