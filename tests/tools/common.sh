# shellcheck shell=bash disable=SC2034
# Settings and small helpers shared by the scripts of this directory.

set -euo pipefail
umask 022

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Everything that is built, downloaded or reported lands here.
CACHE=${DAYBOOK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/daybook}

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }

# The major version of the server a pg_config belongs to: 15.
pg_major() {
    "$1" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/'
}
