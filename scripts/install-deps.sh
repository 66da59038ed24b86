#!/usr/bin/env bash
# Installs the Debian packages that Selkie is built with, as far as they are missing.
#
#   scripts/install-deps.sh          what `make build` and `make run` need
#   scripts/install-deps.sh test     that, and what the tests and comparisons with MariaDB need
#
# Made for Debian 12. Rust is not among them: rustup fetches the toolchain.
set -euo pipefail

# curl and ca-certificates are for rustup and cargo. WiredTiger's cmake files ask for Python's headers, although
# nothing is built with them; pip fetches its source (scripts/build-wiredtiger.sh).
packages=(
    build-essential ca-certificates cmake curl git liblz4-dev libzstd-dev pkg-config
    python3 python3-dev python3-pip python3-setuptools python3-wheel util-linux
)
case "${1:-}" in
    "") ;;
    test)
        packages+=(mariadb-server mariadb-client mariadb-backup mariadb-test sysbench strace)
        ;;
    *)
        echo "usage: scripts/install-deps.sh [test]" >&2
        exit 2
        ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "install-deps: not a Debian system; please see to these yourself: ${packages[*]}" >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install-deps: not root, and no sudo; please install: ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi

echo "install-deps: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
# No server is to start by itself: the tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod +x "$policy"
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
