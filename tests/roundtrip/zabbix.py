"""Zabbix's MySQL schema, images and data, from Debian's package zabbix-server-mysql.

The package is unpacked into a cache, not installed: nothing of it is to run, and it would bring daemons along.
"""

import gzip
import itertools
import os
import pathlib
import shutil
import subprocess

PACKAGE = "zabbix-server-mysql"
# Within the package, and in the order in which they are loaded.
FOLDER = pathlib.Path("usr/share/zabbix-server-mysql")
SCRIPTS = ["schema.sql.gz", "images.sql.gz", "data.sql.gz"]


def cache_folder():
    """What is fetched once stays here, outside of the checkout."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "selkie"


def folder():
    """Where the scripts are; None, with the reason, where the package cannot be had."""
    installed = pathlib.Path("/") / FOLDER
    if all((installed / s).exists() for s in SCRIPTS):
        return installed, None
    cache = cache_folder() / PACKAGE
    unpacked = cache / FOLDER
    if all((unpacked / s).exists() for s in SCRIPTS):
        return unpacked, None
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return None, "no apt-get here"
    download = cache / "download"
    shutil.rmtree(download, ignore_errors=True)
    download.mkdir(parents=True)
    done = subprocess.run(["apt-get", "download", "-q", PACKAGE], cwd=download, capture_output=True, text=True, check=False)
    packages = list(download.glob("*.deb"))
    if done.returncode != 0 or not packages:
        return None, f"`apt-get download {PACKAGE}` failed: {done.stderr.strip()[-300:]}"
    subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(cache)], check=True)
    shutil.rmtree(download)
    return unpacked, None


def load(server, database, scripts, lines_max=None):
    """Runs the scripts, or the first so many lines of each, on a server."""
    server.sql(f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    for script in SCRIPTS:
        with gzip.open(scripts / script) as text:
            # One statement a line, but for the schema, which is shorter than any limit. The scripts are written for one client session each, many statements to a transaction.
            server.tool("mariadb", ["--default-character-set=utf8mb4", f"--database={database}"],
                        stdin=b"SET autocommit = 0;\n" + b"".join(itertools.islice(text, lines_max)) + b"\nCOMMIT;\n")
