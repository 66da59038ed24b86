#!/usr/bin/env bash
# Builds the WiredTiger library that crates/engine-wiredtiger links, once, outside the checkout.
#
#   scripts/build-wiredtiger.sh [DESTINATION]
#
# DESTINATION defaults to ${XDG_CACHE_HOME:-$HOME/.cache}/selkie/wiredtiger-11.3.1; afterwards it holds
# include/wiredtiger.h and lib/libwiredtiger.a. Does nothing if that is there already. Safe to be run several times at
# once. The official source package comes from PyPI through pip (pip checks its hash before anything in it runs);
# without a network, name a copy in SELKIE_WIREDTIGER_TARBALL.
#
# Needs: see scripts/install-deps.sh.
set -euo pipefail

version=11.3.1
sha256=95052d1b6fc06921dd617aafa1ba2a773d8dbbbf2eb74f77147290a630e598d0
# To be raised with every change of how the library is built, so that old caches are replaced.
revision=1

destination=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/selkie/wiredtiger-$version}
stamp="wiredtiger $version revision $revision"

say() { printf 'build-wiredtiger: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
is_built() { [ "$(cat "$destination/BUILD" 2>/dev/null)" = "$stamp" ]; }

is_built && exit 0

if [ -e "$destination" ] && [ ! -e "$destination/BUILD" ]; then
    die "$destination was not made by this script; please move it away"
fi

mkdir -p "$(dirname "$destination")"
exec 9>"$destination.lock"
if ! flock -n 9; then
    say "another build is at work, waiting for it"
    flock 9
fi
is_built && exit 0

for tool in cmake make cc c++ sha256sum tar; do
    command -v "$tool" >/dev/null || die "$tool is missing; run scripts/install-deps.sh"
done

work=$(mktemp -d "$destination.tmp.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Leaves the source package in $work/download.
download() {
    mkdir "$work/download"
    if [ -n "${SELKIE_WIREDTIGER_TARBALL:-}" ]; then
        cp "$SELKIE_WIREDTIGER_TARBALL" "$work/download/"
        return
    fi
    printf 'wiredtiger==%s --hash=sha256:%s\n' "$version" "$sha256" >"$work/requirements.txt"
    local pip
    if command -v pip3 >/dev/null; then pip=(pip3); else pip=(python3 -m pip); fi
    local arguments=(download --quiet --disable-pip-version-check --no-deps --no-binary :all:
        --require-hashes --requirement "$work/requirements.txt" --dest "$work/download")
    # pip insists on asking a source package for its metadata. That needs setuptools: Debian's if it is there, else
    # pip fetches its own.
    "${pip[@]}" "${arguments[@]}" --no-build-isolation 2>"$work/pip.log" ||
        "${pip[@]}" "${arguments[@]}" || { cat "$work/pip.log" >&2; die "cannot download wiredtiger $version"; }
}

say "fetching WiredTiger $version"
download
tarball=$(echo "$work"/download/*.tar.gz)
echo "$sha256  $tarball" | sha256sum --check --quiet || die "the source package is not the expected one"
mkdir "$work/source"
tar -xzf "$tarball" -C "$work/source" --strip-components=1

say "building it into $destination (about a minute)"
log="$work/build.log"
{
    cmake -S "$work/source" -B "$work/build" -G "Unix Makefiles" \
        -DCMAKE_BUILD_TYPE=Release -DWITH_PIC=1 \
        -DENABLE_STATIC=1 -DENABLE_SHARED=0 -DENABLE_PYTHON=0 -DENABLE_STRICT=0 -DHAVE_UNITTEST=0 \
        -DHAVE_BUILTIN_EXTENSION_LZ4=1 -DHAVE_BUILTIN_EXTENSION_ZSTD=1 &&
    # What is run by make or cargo may inherit their job server; this build has its own.
    env -u MAKEFLAGS -u MFLAGS make -C "$work/build" -j "$(nproc)" wiredtiger_static
} >"$log" 2>&1 || { tail -n 40 "$log" >&2; die "the build failed; is everything of scripts/install-deps.sh there?"; }

mkdir -p "$work/install/include" "$work/install/lib"
cp "$work/build/include/wiredtiger.h" "$work/install/include/"
cp "$(find "$work/build" -name libwiredtiger.a -print -quit)" "$work/install/lib/"
cp "$work/source/LICENSE" "$work/install/"
echo "$stamp" >"$work/install/BUILD"

rm -rf "$destination"
mv "$work/install" "$destination"
say "done"
