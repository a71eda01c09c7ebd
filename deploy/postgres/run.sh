#!/usr/bin/env bash
# Runs a command, such as `make e2e` or `make bench`, against Temporal on
# PostgreSQL in place of the dev server: a PostgreSQL of its own, in a temporary
# folder, on a free port of 127.0.0.1, which is gone afterwards.
#
#   deploy/postgres/run.sh make e2e
#
# Needs Go, and Debian's postgresql (installed here when run as root). Builds the
# server into bin/ once, in about five minutes.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: $0 COMMAND…, such as: $0 make e2e" >&2; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

binaries() { dirname "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -1)"; }
bin=$(binaries)
if [ ! -x "$bin/initdb" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
	bin=$(binaries)
fi
[ -x "$bin/initdb" ] || { echo "no PostgreSQL found: install it (Debian: apt-get install postgresql)" >&2; exit 1; }

server=$root/bin/temporal-postgres
if [ ! -x "$server" ]; then
	echo "building $server" >&2
	(cd "$root/deploy/postgres" && GOWORK=off go build -o "$server" .)
fi

# PostgreSQL refuses to be root.
as=()
[ "$(id -u)" != 0 ] || as=(runuser -u postgres --)
dir=$(mktemp -d)
stop() {
	(cd / && "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1) || true
	rm -rf "$dir"
}
trap stop EXIT
password=$(head -c 18 /dev/urandom | base64 | tr -d '/+=')
port=$((20000 + RANDOM % 20000))
printf '%s' "$password" >"$dir/password"
if [ ${#as[@]} -gt 0 ]; then chown -R postgres "$dir"; fi
(
	cd /
	"${as[@]}" "$bin/initdb" -D "$dir/data" -U temporal --pwfile="$dir/password" -A scram-sha-256 -E UTF8 --locale=C.UTF-8 >/dev/null
	"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start \
		-o "-p $port -c listen_addresses=127.0.0.1 -k $dir -c max_connections=1000 -c shared_buffers=512MB ${POSTGRES_OPTIONS:-}" >/dev/null
)
export POSTGRES="temporal:$password@127.0.0.1:$port" TEMPORAL_CLI_PATH="$server"
cd "$root"
"$@"
