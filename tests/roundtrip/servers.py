"""Servers of the round trips, each in a folder of its own, and the real client programs on them.

It knows nothing of what is dumped or compared. Programs are run without the user's option files.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import time

START_TIMEOUT_SECONDS = 120
STOP_TIMEOUT_SECONDS = 120
# A client program that takes longer hangs.
TOOL_TIMEOUT_SECONDS = 1800

# Debian's packages of these are installed by scripts/install-deps.sh test.
PROGRAMS = [
    "mariadb", "mariadb-admin", "mariadb-binlog", "mariadb-check", "mariadb-dump", "mariadb-import",
    "mariadb-install-db", "mariadb-show", "mariadbd",
]


class Failure(Exception):
    """Something does not hold; the text says what."""


def missing_programs():
    """The programs that are not installed."""
    return [p for p in PROGRAMS if find_program(p) is None]


def find_program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


class Server:
    """A running server: `kind` is "selkie" or "mariadb"."""

    def __init__(self, kind, folder, program=None, options=(), name=None):
        self.kind = kind
        self.name = name or kind
        self.folder = pathlib.Path(folder) / self.name
        self.folder.mkdir(parents=True)
        self.datadir = self.folder / "data"
        self.socket = self.folder / "s.sock"
        self.program = program or find_program("mariadbd")
        self.options = list(options)
        self.process = None
        if kind == "mariadb":
            subprocess.run(
                [find_program("mariadb-install-db"), "--no-defaults", f"--datadir={self.datadir}", "--user=root",
                 "--auth-root-authentication-method=normal", "--skip-test-db"],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.start()

    def start(self):
        command = [str(self.program)]
        if self.kind == "selkie":
            command += ["serve", "--no-defaults"]
        else:
            command += ["--no-defaults", "--innodb-flush-log-at-trx-commit=0", "--log-bin", "--server-id=7",
                        "--log-basename=primary"]
        command += [f"--datadir={self.datadir}", f"--socket={self.socket}", "--user=root", "--skip-networking",
                    "--max-allowed-packet=64M", *self.options]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while self.tool("mariadb-admin", ["ping"], check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"{self.name} does not start; its log ends with:\n{self.log_tail()}")
            time.sleep(0.05)

    def stop(self):
        """Ends it as an operator does, and kills it if it does not go."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"{self.name} does not stop; its log ends with:\n{self.log_tail()}") from None

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def log_tail(self):
        return (self.folder / "log").read_text(errors="replace")[-4000:]

    def peak_memory_bytes(self):
        """The largest resident set since it started (VmHWM)."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise Failure("no VmHWM in /proc")

    def command(self, program, arguments):
        """The command line of a client program that is to talk to this server."""
        return [find_program(program), "--no-defaults", f"--socket={self.socket}", "--user=root", *map(str, arguments)]

    def tool(self, program, arguments, stdin=None, stdout=None, check=True):
        """Runs a client program. `stdin` is bytes or an open file; the output is bytes in `stdout`, or an open file."""
        given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin or subprocess.DEVNULL}
        done = subprocess.run(self.command(program, arguments), stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=TOOL_TIMEOUT_SECONDS, check=False, **given)
        if check and done.returncode != 0:
            shown = " ".join([program, *map(str, arguments)])
            raise Failure(f"{self.name}: `{shown}` failed ({done.returncode}):\n{done.stderr.decode(errors='replace')[-3000:]}")
        return done

    def sql(self, text, database=None, options=()):
        """What the `mariadb` client prints for statements, in batch mode without headings."""
        arguments = ["--batch", "--skip-column-names", "--default-character-set=utf8mb4", *options]
        if database is not None:
            arguments.append(f"--database={database}")
        return self.tool("mariadb", arguments, stdin=text.encode()).stdout.decode(errors="surrogateescape")

    def dump(self, path, arguments):
        """Writes the output of `mariadb-dump` to a file."""
        with open(path, "wb") as out:
            self.tool("mariadb-dump", arguments, stdout=out)

    def restore(self, path, database):
        """Runs a dump to its end; the errors on the way are returned as lines."""
        with open(path, "rb") as dump:
            done = self.tool("mariadb", ["--force", "--default-character-set=utf8mb4", "--max-allowed-packet=64M",
                                         f"--database={database}"], stdin=dump, check=False)
        return [f"{self.name}: {line[:400]}" for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("ERROR")]
