#!/usr/bin/env python3
"""Compares Selkie with Debian's MariaDB by sysbench and writes one table.

Both run on this machine with the same durability (each commit synced, binary log on, row format) and the same cache.
They take turns: each workload runs on the one, then on the other, while the other is idle.

    benches/compare/run.py --selkie ./selkie

Environment (defaults; with BENCH_QUICK=1):
    BENCH_SECONDS=20 (5)            time of each run
    BENCH_TABLES=4 (2)              tables
    BENCH_ROWS=250000 (50000)       rows of each table
    BENCH_THREADS=1,4,16,64 (1,16)  numbers of client threads
    BENCH_WORKLOADS=...             a part of the list below
    BENCH_CACHE=1G                  cache of each server
    BENCH_RESULT=benches/compare/result.md
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORKLOADS = ["point_select", "read_only", "read_write", "update_index", "update_non_index", "insert", "write_only"]
QUICK = os.environ.get("BENCH_QUICK") == "1"
START_PATIENCE_SECONDS = 60


def setting(name, default, quick):
    return os.environ.get("BENCH_" + name, quick if QUICK else default)


SECONDS = int(setting("SECONDS", "20", "5"))
TABLES = int(setting("TABLES", "4", "2"))
ROWS = int(setting("ROWS", "250000", "50000"))
THREADS = [int(n) for n in setting("THREADS", "1,4,16,64", "1,16").split(",")]
CACHE = setting("CACHE", "1G", "1G")
RESULT = Path(setting("RESULT", *[str(Path(__file__).with_name("result.md"))] * 2))

MARIADB_OPTIONS = [
    "--log-bin=binlog", "--binlog-format=ROW", "--server-id=1", "--sync-binlog=1",
    "--innodb-flush-log-at-trx-commit=1", f"--innodb-buffer-pool-size={CACHE}", "--innodb-log-file-size=1G",
    "--innodb-snapshot-isolation=ON", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
    "--max-connections=300", "--skip-name-resolve",
]
SELKIE_OPTIONS = ["--sync-binlog=1", f"--innodb-buffer-pool-size={CACHE}", "--max-connections=300"]


class Failed(Exception):
    """Something that a person should see without a trace."""


class Server:
    """A running server in a temporary folder."""

    def __init__(self, name, command, folder):
        self.name = name
        self.socket = folder / "s.sock"
        self.log = folder / "log"
        common = [f"--datadir={folder}/data", f"--socket={self.socket}", "--skip-networking"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command + common, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_PATIENCE_SECONDS
        while subprocess.run(self.client("SELECT 1"), capture_output=True).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"{name} does not start:\n{self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)
        self.run("CREATE DATABASE sbtest")

    def client(self, sql):
        return ["mariadb", "--no-defaults", "-N", "-uroot", f"-S{self.socket}", "-e", sql]

    def run(self, sql):
        done = subprocess.run(self.client(sql), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{self.name}: {sql}: {done.stderr.strip()}")
        return done.stdout.strip()

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_bytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024

    def reset_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(120)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def start_mariadb(folder):
    user = "root" if os.geteuid() == 0 else os.environ.get("USER", "mysql")
    install = ["mariadb-install-db", "--no-defaults", f"--datadir={folder}/data", f"--user={user}",
               "--auth-root-authentication-method=normal"]
    subprocess.run(install, check=True, capture_output=True)
    return Server("MariaDB", ["mariadbd", "--no-defaults", f"--user={user}"] + MARIADB_OPTIONS, folder)


def start_selkie(program, folder):
    return Server("Selkie", [program, "serve", "--no-defaults"] + SELKIE_OPTIONS, folder)


def sysbench(server, workload, threads, action):
    command = ["sysbench", f"oltp_{workload}", "--db-driver=mysql", f"--mysql-socket={server.socket}",
               "--mysql-user=root", "--mysql-db=sbtest", f"--tables={TABLES}", f"--table-size={ROWS}",
               f"--threads={threads}", f"--time={SECONDS}", "--percentile=95", "--rand-type=uniform", action]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
        raise Failed(f"{server.name}: sysbench {workload} {action} with {threads} threads:\n{tail}")
    return done.stdout


def measure(server, workload, threads):
    server.reset_peak()
    cpu = server.cpu_seconds()
    out = sysbench(server, workload, threads, "run")
    cpu = server.cpu_seconds() - cpu
    queries = int(re.search(r"queries:\s+(\d+)", out).group(1))
    return {
        "tps": float(re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", out).group(1)),
        "p95": float(re.search(r"95th percentile:\s+([\d.]+)", out).group(1)),
        "cpu": cpu * 1e6 / max(queries, 1),
        "peak": server.peak_bytes() / 2**20,
    }


COLUMNS = [("tps", "transactions/s", "{:,.0f}"), ("p95", "p95 ms", "{:.2f}"), ("cpu", "CPU µs/query", "{:.0f}"),
           ("peak", "peak MiB", "{:,.0f}")]


def row(workload, threads, mariadb, selkie):
    cells = [workload, str(threads)]
    for key, _, form in COLUMNS:
        a, b = (form.format(m[key]) if m else "failed" for m in (mariadb, selkie))
        ratio = f"{selkie[key] / mariadb[key]:.2f}" if mariadb and selkie and mariadb[key] else "-"
        cells += [a, b, ratio]
    return "| " + " | ".join(cells) + " |"


def head(versions):
    names = ["workload", "threads"]
    for _, name, _ in COLUMNS:
        names += [f"{name}: MariaDB", "Selkie", "ratio"]
    cpus = os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return "\n".join([
        "# Selkie and MariaDB",
        "",
        f"{versions[0]} and {versions[1]}; {cpus} CPUs, {memory:.0f} GiB, Linux {os.uname().release}; "
        f"{TABLES} tables of {ROWS:,} rows, cache {CACHE}, {SECONDS} s a run, clients on the same machine by unix socket.",
        "Both sync each commit (`sync_binlog=1`, `innodb_flush_log_at_trx_commit=1`, binary log on). Ratio: Selkie by "
        "MariaDB; more is better for transactions, less for all others. Repeat with `make bench`.",
        "",
        "| " + " | ".join(names) + " |",
        "|" + "---|" * 2 + "---:|" * (len(names) - 2),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selkie", default="./selkie", help="the program")
    program = str(Path(parser.parse_args().selkie).resolve())
    workloads = os.environ.get("BENCH_WORKLOADS", ",".join(WORKLOADS)).split(",")
    for tool in ("sysbench", "mariadbd", "mariadb-install-db"):
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin"):
            raise Failed(f"{tool} is missing: scripts/install-deps.sh test")
    os.environ["PATH"] += ":/usr/sbin"
    folder = Path(tempfile.mkdtemp(prefix="selkie-bench-", dir=os.environ.get("BENCH_DIR")))
    servers, failures = [], []
    try:
        for start, name in ((start_mariadb, "mariadb"), (lambda f: start_selkie(program, f), "selkie")):
            (folder / name).mkdir()
            servers.append(start(folder / name))
        versions = [f"{s.name} {s.run('SELECT VERSION()')}" for s in servers]
        for server in servers:
            began = time.monotonic()
            sysbench(server, "read_write", 2, "prepare")
            print(f"{server.name}: prepared in {time.monotonic() - began:.1f} s", flush=True)
        lines = [head(versions)]
        print(lines[0], flush=True)
        for workload in workloads:
            for threads in THREADS:
                results = []
                for server in servers:
                    try:
                        results.append(measure(server, workload, threads))
                    except Failed as e:
                        failures.append(str(e))
                        results.append(None)
                lines.append(row(workload, threads, *results))
                print(lines[-1], flush=True)
        RESULT.write_text("\n".join(lines) + "\n")
        print(f"\nwritten to {RESULT}")
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    if failures:
        raise Failed("\n".join(failures))


if __name__ == "__main__":
    try:
        main()
    except Failed as e:
        sys.exit(f"bench: {e}")
