"""The cases of the round trips. Each takes a `Bench` and returns (what it looked at, the differences)."""

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

import zabbix
from compare import compare_dictionary, compare_rows, compare_texts
from servers import Failure, Server, find_program

HERE = pathlib.Path(__file__).resolve().parent
# Triggers are not there yet (COMPAT.md).
DUMP = ["--skip-triggers"]


class Skipped(Exception):
    """Something outside of the project is absent; the text says what."""


class Bench:
    """The servers of a run: `source` and `target` are MariaDB, `selkie` is what is tested. Started when first asked for."""

    def __init__(self, selkie_program, folder, quick):
        self.selkie_program = selkie_program
        self.folder = pathlib.Path(folder)
        self.quick = quick
        self.servers = {}

    def server(self, name, kind, options=()):
        if name not in self.servers:
            program = self.selkie_program if kind == "selkie" else None
            self.servers[name] = Server(kind, self.folder, program, options, name)
        return self.servers[name]

    @property
    def source(self):
        return self.server("source", "mariadb")

    @property
    def target(self):
        return self.server("target", "mariadb")

    @property
    def selkie(self):
        return self.server("selkie", "selkie")

    def drop(self, name):
        self.servers.pop(name).stop()

    def file(self, name):
        return self.folder / name

    def stop(self):
        for server in self.servers.values():
            server.kill()

    # Databases that several cases start from; made once.

    def zoo(self):
        """The table of every column type, in `source`; its dump."""
        dump = self.file("zoo.1.sql")
        if not dump.exists():
            self.source.sql("CREATE DATABASE zoo")
            self.source.sql((HERE / "zoo.sql").read_text(), "zoo")
            self.source.dump(dump, [*DUMP, "zoo"])
        return dump

    def zoo_in_selkie(self):
        """The same in `selkie`."""
        dump = self.zoo()
        if "zoo" not in self.selkie.sql("SHOW DATABASES").split():
            create_like(self.source, self.selkie, "zoo")
            errors = self.selkie.restore(dump, "zoo")
            if errors:
                raise Failure("\n".join(errors))
        return dump


def create_like(original, server, database, name=None):
    """Makes an empty database with the defaults of the original, and its name unless another is given."""
    charset, collation = original.sql(
        f"SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '{database}'").split()
    server.sql(f"CREATE OR REPLACE DATABASE `{name or database}` CHARACTER SET {charset} COLLATE {collation}")


def round_trip(bench, database, dump):
    """A dump of `source` into Selkie, Selkie's dump into `target`: texts, rows and dictionaries."""
    selkie, target = bench.selkie, bench.target
    create_like(bench.source, selkie, database)
    differences = selkie.restore(dump, database)
    again = bench.file(f"{database}.2.sql")
    selkie.dump(again, [*DUMP, database])
    differences += compare_texts(dump, again)
    create_like(bench.source, target, database)
    differences += target.restore(again, database)
    differences += compare_dictionary(bench.source, selkie, database)
    found, rows = compare_rows(bench.source, selkie, database)
    differences += found
    found, _ = compare_rows(bench.source, target, database)
    differences += found
    return f"{rows} rows", differences


def case_zoo(bench):
    """Every column type, clause, index and view."""
    return round_trip(bench, "zoo", bench.zoo())


def case_zabbix(bench):
    """Zabbix's schema, images and data."""
    scripts, reason = zabbix.folder()
    if scripts is None:
        raise Skipped(f"Debian's package {zabbix.PACKAGE} is absent: {reason}")
    zabbix.load(bench.source, "zabbix", scripts, 3_000 if bench.quick else None)
    dump = bench.file("zabbix.1.sql")
    bench.source.dump(dump, [*DUMP, "zabbix"])
    return round_trip(bench, "zabbix", dump)


def case_sysbench(bench):
    """sysbench's tables."""
    sysbench = find_program("sysbench")
    if sysbench is None:
        raise Skipped("sysbench is not installed")
    tables, rows = (4, 2_000) if bench.quick else (4, 50_000)
    bench.source.sql("CREATE DATABASE sbtest")
    subprocess.run([sysbench, "oltp_read_write", f"--mysql-socket={bench.source.socket}", "--mysql-user=root", "--db-driver=mysql",
                    f"--tables={tables}", f"--table-size={rows}", "prepare"], check=True, stdout=subprocess.DEVNULL)
    dump = bench.file("sbtest.1.sql")
    bench.source.dump(dump, [*DUMP, "sbtest"])
    return round_trip(bench, "sbtest", dump)


DUMP_OPTIONS = [
    ["--single-transaction", "zoo"],
    ["--single-transaction", "--master-data=2", "zoo"],
    ["--single-transaction", "--master-data=2", "--gtid", "zoo"],
    ["--single-transaction", "--flush-logs", "--master-data=1", "zoo"],
    ["--hex-blob", "zoo"],
    ["--skip-extended-insert", "zoo"],
    # Partitions show their engine also where table options are not asked for (COMPAT.md).
    ["--skip-opt", "--ignore-table=zoo.parts", "zoo"],
    ["--complete-insert", "--order-by-primary", "--replace", "zoo"],
    ["--no-data", "--skip-comments", "zoo"],
    ["--no-create-info", "--compact", "--insert-ignore", "zoo"],
    ["--xml", "zoo"],
    ["--xml", "--no-data", "zoo", "integers", "generated", "v_join"],
    ["--databases", "--add-drop-database", "zoo"],
    ["--lock-all-tables", "--no-autocommit", "--tz-utc", "zoo", "parent", "child"],
    ["--lock-tables", "--where=id < 3", "zoo", "integers", "times"],
    ["--routines", "--events", "--triggers", "--no-data", "zoo"],
    ["--default-character-set=latin1", "zoo", "texts_latin1", "texts_utf8mb4"],
    ["--default-character-set=binary", "zoo", "texts_latin1", "texts_utf8mb4"],
    ["--max-statement-time=100", "--quote-names", "--create-options", "zoo", "many_indexes"],
]
# Columns of views have none in Selkie (COMPAT.md); those of tables are compared in the dictionary.
XML_DEFAULT = re.compile(rb' (Default|Null)="[^"]*"')
OPTION_LINES_MAX = 12
# Lines of an XML dump that hold statistics, which are estimates; indexes are compared in the dictionary.
XML_VOLATILE = re.compile(rb'<options Name=|<key Table=')


def case_options(bench):
    """mariadb-dump with other options writes the same for Selkie as for MariaDB."""
    bench.zoo_in_selkie()
    differences = []
    for number, options in enumerate(DUMP_OPTIONS):
        paths = []
        for server in (bench.source, bench.selkie):
            path = bench.file(f"options-{number}.{server.name}.sql")
            paths.append(path)
            try:
                server.dump(path, options)
            except Failure as failure:
                differences.append(str(failure))
                continue
            if "--xml" in options:
                lines = (XML_DEFAULT.sub(b"", line) for line in path.read_bytes().splitlines(True) if not XML_VOLATILE.search(line))
                path.write_bytes(b"".join(lines))
            if any(o.startswith("--master-data") for o in options):
                text = path.read_text(errors="replace")
                wanted = "gtid_slave_pos" if "--gtid" in options else "MASTER_LOG_POS="
                if wanted not in text:
                    differences.append(f"{server.name}: no {wanted} with {options}")
        if all(p.exists() for p in paths):
            found = compare_texts(*paths)
            if found:
                differences += [f"mariadb-dump {' '.join(options)}:", *found[:OPTION_LINES_MAX]]
    return f"{len(DUMP_OPTIONS)} sets of options", differences


def case_tab(bench):
    """mariadb-dump --tab, and mariadb-import of the files into Selkie and MariaDB, by way of the client."""
    bench.zoo_in_selkie()
    folders = {}
    differences = []
    tables = bench.source.sql("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'zoo' AND TABLE_TYPE = 'BASE TABLE' "
                              "AND TABLE_NAME NOT LIKE 'odd %' AND TABLE_NAME NOT IN ('generated', 'jsons', 'invisible')").split()
    for server in (bench.source, bench.selkie):
        folder = folders[server.name] = bench.file(f"tab.{server.name}")
        folder.mkdir()
        server.tool("mariadb-dump", [*DUMP, f"--tab={folder}", "zoo", *tables])
    for table in tables:
        texts = [(folder / f"{table}.txt").read_bytes() for folder in folders.values()]
        if texts[0] != texts[1] and table != "bits":  # COMPAT.md: BIT values are escaped
            differences.append(f"--tab writes other rows of {table}:")
            differences += [f"  {a[:200]!r}\n  {b[:200]!r}" for a, b in zip(*(t.split(b"\n") for t in texts)) if a != b][:3]
    # What Selkie wrote goes into both.
    for server in (bench.target, bench.selkie):
        create_like(bench.source, server, "zoo", "imported")
        for table in tables:
            with open(folders["selkie"] / f"{table}.sql", "rb") as ddl:
                server.tool("mariadb", ["--default-character-set=utf8mb4", "--init-command=SET foreign_key_checks=0", "imported"], stdin=ddl)
        server.sql("SET GLOBAL foreign_key_checks = 0; SET GLOBAL sql_mode = ''; SET GLOBAL time_zone = '+00:00'")
        server.tool("mariadb-import", ["--local", "--default-character-set=binary", "imported",
                                       *[folders["selkie"] / f"{t}.txt" for t in tables]])
        server.sql("SET GLOBAL foreign_key_checks = DEFAULT; SET GLOBAL sql_mode = DEFAULT; SET GLOBAL time_zone = DEFAULT")
    found, rows = compare_rows(bench.target, bench.selkie, "imported")
    return f"{rows} rows in {len(tables)} tables", differences + found


SAME_OUTPUT = [
    ("mariadb-show", ["zoo"]),
    ("mariadb-show", ["zoo", "integers"]),
    ("mariadb-show", ["--keys", "zoo", "child"]),
    ("mariadb-show", ["--count", "zoo"]),
    ("mariadb-check", ["zoo", "integers", "times", "child", "myisam_table", "parts"]),
    ("mariadb-check", ["--check-upgrade", "zoo", "integers"]),
    ("mariadb-admin", ["create", "made"]),
    ("mariadb-admin", ["--force", "drop", "made"]),
    ("mariadb-admin", ["ping"]),
]
WORKING = [
    ("mariadb-show", []),
    ("mariadb-show", ["--status", "zoo"]),
    ("mariadb-show", ["--verbose", "--verbose"]),
    ("mariadb-check", ["zoo"]),
    ("mariadb-check", ["--check-upgrade", "--databases", "zoo"]),
    ("mariadb-check", ["--analyze", "zoo"]),
    ("mariadb-check", ["--optimize", "zoo"]),
    ("mariadb-check", ["--repair", "zoo"]),
    ("mariadb-check", ["--all-databases"]),
    ("mariadb-check", ["--auto-repair", "--extended", "zoo", "integers"]),
    ("mariadb-admin", ["status"]),
    ("mariadb-admin", ["extended-status"]),
    ("mariadb-admin", ["variables"]),
    ("mariadb-admin", ["processlist"]),
    ("mariadb-admin", ["--verbose", "processlist"]),
    ("mariadb-admin", ["version"]),
    ("mariadb-admin", ["flush-logs"]),
    ("mariadb-admin", ["flush-tables"]),
    ("mariadb-admin", ["flush-status"]),
    ("mariadb-admin", ["flush-hosts"]),
    ("mariadb-admin", ["flush-privileges"]),
    ("mariadb-admin", ["refresh"]),
    ("mariadb-admin", ["debug"]),
    ("mariadb-dump", ["--all-databases", "--skip-triggers"]),
    ("mariadb-dump", ["--system=users"]),
]


def case_tools(bench):
    """mariadb-show, mariadb-check and mariadb-admin."""
    bench.zoo_in_selkie()
    differences = []
    for program, arguments in SAME_OUTPUT:
        outputs = []
        for server in (bench.source, bench.selkie):
            done = server.tool(program, arguments, check=False)
            outputs.append((done.returncode, (done.stdout + done.stderr).decode(errors="replace").splitlines()))
        if outputs[0] != outputs[1]:
            differences.append(f"{program} {' '.join(arguments)}: {outputs[0][0]} and {outputs[1][0]}")
            differences += [f"  < {l}" for l in outputs[0][1] if l not in outputs[1][1]][:10]
            differences += [f"  > {l}" for l in outputs[1][1] if l not in outputs[0][1]][:10]
    for program, arguments in WORKING:
        done = bench.selkie.tool(program, arguments, check=False)
        if done.returncode != 0 or done.stderr:
            differences.append(f"{program} {' '.join(arguments)}: {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    leaving = bench.server("leaving", "selkie")
    leaving.tool("mariadb-admin", ["shutdown"])
    if leaving.process.wait(60) != 0:
        differences.append(f"after mariadb-admin shutdown the server ended with {leaving.process.returncode}:\n{leaving.log_tail()}")
    leaving.start()
    bench.drop("leaving")
    return f"{len(SAME_OUTPUT) + len(WORKING) + 1} commands", differences


def case_pymysql(bench):
    """A driver that is neither MariaDB's nor ours."""
    cache = zabbix.cache_folder() / "pymysql"
    if not (cache / "pymysql").exists():
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(cache), "PyMySQL==1.1.1"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"pip cannot install PyMySQL: {done.stderr.strip()[-300:]}")
    done = subprocess.run([sys.executable, str(HERE / "driver.py"), str(bench.selkie.socket)], capture_output=True, text=True,
                          env={"PYTHONPATH": str(cache), "PATH": "/usr/bin:/bin"}, check=False)
    return done.stdout.strip(), [done.stderr[-3000:]] if done.returncode != 0 else []


# The bound that the project sets: the cache setting and 300 MB.
MEMORY_ABOVE_CACHE_BYTES = 300 << 20


def case_memory(bench):
    """A dump of 100 MB restores within the cache setting and 300 MB."""
    cache = 128 << 20
    size = (8 if bench.quick else 100) << 20
    dump, wanted = bench.file("memory.sql"), hashlib.sha256()
    rows = write_large_dump(dump, size, wanted)
    server = bench.server("memory", "selkie", ["--innodb-buffer-pool-size=128M"])
    server.sql("CREATE DATABASE memory CHARACTER SET utf8mb4")
    differences = server.restore(dump, "memory")
    peak = server.peak_memory_bytes()
    got = hashlib.sha256()
    for table in range(4):
        with open(bench.file("memory.out"), "wb") as out:
            server.tool("mariadb", ["--batch", "--skip-column-names", "--quick", "memory", f"--execute=SELECT * FROM t{table} ORDER BY id"], stdout=out)
        got.update(bench.file("memory.out").read_bytes())
    read_peak = server.peak_memory_bytes()
    bench.drop("memory")
    if got.digest() != wanted.digest():
        differences.append("the rows read are not those of the dump")
    if max(peak, read_peak) > cache + MEMORY_ABOVE_CACHE_BYTES:
        differences.append(f"{max(peak, read_peak) >> 20} MB used, {cache + MEMORY_ABOVE_CACHE_BYTES >> 20} MB allowed")
    return f"{size >> 20} MB, {rows} rows: at most {peak >> 20} MB restoring, {read_peak >> 20} MB after reading", differences


def write_large_dump(path, size, digest):
    """A dump of four tables as mariadb-dump writes it; the digest gets the rows as the client prints them."""
    written = rows = 0
    with open(path, "w", encoding="ascii") as out:
        for table in range(4):
            out.write(f"CREATE TABLE `t{table}` (`id` int(11) NOT NULL AUTO_INCREMENT, `k` int(11) NOT NULL DEFAULT 0, "
                      "`c` char(120) NOT NULL DEFAULT '', `pad` varchar(2000) NOT NULL DEFAULT '', PRIMARY KEY (`id`), KEY `k_1` (`k`)) ENGINE=InnoDB;\n"
                      f"LOCK TABLES `t{table}` WRITE;\n/*!40000 ALTER TABLE `t{table}` DISABLE KEYS */;\n")
            row = 0
            while written < size * (table + 1) // 4:
                values = []
                length = 0
                while length < 1_000_000:
                    row += 1
                    noise = hashlib.sha256(f"{table}/{row}".encode()).hexdigest()
                    k, c, pad = int(noise[:7], 16), noise + noise[:50], noise[: row % 60] * (row % 20)
                    digest.update(f"{row}\t{k}\t{c}\t{pad}\n".encode())
                    values.append(f"({row},{k},'{c}','{pad}')")
                    length += len(values[-1]) + 1
                out.write(f"INSERT INTO `t{table}` VALUES {','.join(values)};\n")
                written += length
            rows += row
            out.write(f"/*!40000 ALTER TABLE `t{table}` ENABLE KEYS */;\nUNLOCK TABLES;\n")
    return rows


def case_binlog(bench):
    """What Selkie logged is good by its checksums, and makes the same tables when replayed into a MariaDB."""
    selkie = bench.server("logged", "selkie")
    selkie.sql("CREATE DATABASE zoo CHARACTER SET latin1 COLLATE latin1_swedish_ci; CREATE DATABASE work CHARACTER SET utf8mb4")
    differences = selkie.restore(bench.zoo(), "zoo")
    databases = ["zoo", "work"]
    differences += selkie.restore(HERE / "workload.sql", "work")
    scripts, _ = zabbix.folder()
    if scripts is not None and not bench.quick:
        zabbix_dump = bench.file("zabbix.1.sql")
        if zabbix_dump.exists():
            selkie.sql("CREATE DATABASE zabbix CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; FLUSH LOGS")
            differences += selkie.restore(zabbix_dump, "zabbix")
            databases.append("zabbix")
    selkie.stop()
    selkie.start()
    selkie.sql("INSERT INTO after_restart VALUES (1, 'one')", "work")
    names = [line.split("\t")[0] for line in selkie.sql("SHOW BINARY LOGS").splitlines()]
    files = [str(selkie.datadir / name) for name in names]
    tool = find_program("mariadb-binlog")
    for file in files:
        done = subprocess.run([tool, "--no-defaults", "--verify-binlog-checksum", "--verbose", file], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode != 0 or done.stderr:
            differences.append(f"mariadb-binlog --verify-binlog-checksum {file}: {done.stderr.decode(errors='replace')[-500:]}")
    replica = bench.server("replayed", "mariadb", ["--gtid-strict-mode=0"])
    replica.sql("SET GLOBAL time_zone = '+00:00'")
    script = bench.file("binlog.sql")
    with open(script, "wb") as out:
        subprocess.run([tool, "--no-defaults", "--verify-binlog-checksum", *files], stdout=out, check=True)
    with open(script, "rb") as replay:
        replica.tool("mariadb", ["--binary-mode", "--max-allowed-packet=64M"], stdin=replay)
    rows = 0
    for database in databases:
        found, compared = compare_rows(selkie, replica, database)
        rows += compared
        paths = []
        for server in (selkie, replica):
            paths.append(bench.file(f"{database}.{server.name}.sql"))
            server.dump(paths[-1], [*DUMP, database])
        differences += found + compare_texts(*paths)
    return f"{len(files)} files, {rows} rows", differences


CASES = {name.removeprefix("case_"): function for name, function in list(globals().items()) if name.startswith("case_")}


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
