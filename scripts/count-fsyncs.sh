#!/usr/bin/env bash
# Counts the server's syncs for a number of commits, alone and in company.
#
#   scripts/count-fsyncs.sh [SELKIE]
#
# One client: one fdatasync per commit. Many clients: fewer than commits, since a group shares one. Ends with status 1
# if that is not so. Needs strace, and sysbench for the clients (scripts/install-deps.sh test).
set -euo pipefail

selkie=${1:-./selkie}
commits=500
folder=$(mktemp -d)
server=
tracer=
finish() {
    [ -z "$tracer" ] || kill "$tracer" 2>/dev/null || true
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
    rm -rf "$folder"
}
trap finish EXIT

"$selkie" serve --no-defaults --datadir="$folder/data" --socket="$folder/s.sock" --skip-networking \
    --log-error="$folder/log.err" &
server=$!
sql() { mariadb --no-defaults -uroot -S "$folder/s.sock" -N -e "$1" "${@:2}"; }
for _ in $(seq 600); do
    sql 'SELECT 1' >/dev/null 2>&1 && break
    kill -0 "$server" 2>/dev/null || { cat "$folder/log.err" >&2; exit 1; }
    sleep 0.05
done
sql 'CREATE DATABASE sbtest; CREATE TABLE sbtest.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)'

# trace NAME COMMAND...: runs the command while the server's syncs are counted; leaves the number in $syncs.
trace() {
    local name=$1
    shift
    strace -f -qq -e trace=fsync,fdatasync,sync_file_range,syncfs,sync -o "$folder/$name.strace" -p "$server" \
        2>"$folder/$name.attached" &
    tracer=$!
    for _ in $(seq 100); do
        grep -q "TracerPid:[[:space:]]*$tracer" "/proc/$server/status" && break
        sleep 0.05
    done
    "$@"
    kill "$tracer"
    wait "$tracer" 2>/dev/null || true
    tracer=
    syncs=$(grep -cE '(fsync|fdatasync|sync_file_range|syncfs|sync)\(' "$folder/$name.strace" || true)
}

one_client() {
    for _ in $(seq "$commits"); do echo 'INSERT INTO sbtest.t (v) VALUES (1);'; done |
        mariadb --no-defaults -uroot -S "$folder/s.sock"
}
trace one one_client
echo "1 client: $commits commits, $syncs syncs"
# A checkpoint by time may fall into it, and brings a few of its own.
[ "$syncs" -ge "$commits" ] && [ "$syncs" -le $((commits + 20)) ] || { echo 'expected one sync per commit' >&2; exit 1; }

many_clients() {
    sysbench oltp_insert --db-driver=mysql --mysql-socket="$folder/s.sock" --mysql-user=root --mysql-db=sbtest \
        --tables=1 --table-size=1 --threads=16 --events=$((commits * 10)) --time=0 run >"$folder/sysbench.log"
}
sysbench oltp_insert --db-driver=mysql --mysql-socket="$folder/s.sock" --mysql-user=root --mysql-db=sbtest \
    --tables=1 --table-size=1 prepare >/dev/null
trace many many_clients
echo "16 clients: $((commits * 10)) commits, $syncs syncs"
[ "$syncs" -lt $((commits * 10)) ] || { echo 'expected commits to share syncs' >&2; exit 1; }
