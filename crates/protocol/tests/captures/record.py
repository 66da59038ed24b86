#!/usr/bin/env python3
"""Records the conversations in this folder: real clients against a private MariaDB, through a proxy.

Needs mariadbd and its clients, Connector/C's headers and a C compiler, and the Python packages
PyMySQL and mysql-connector-python. Usage: record.py [SCENARIO ...]

A recording has one packet a line: direction (C client, S server), sequence number, payload in hex
(`-` when empty). `= connection` starts a further connection, `#` a comment.
"""

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))

SETUP = """
CREATE DATABASE capture;
USE capture;
CREATE TABLE numbers (n INT NOT NULL PRIMARY KEY, name VARCHAR(20));
INSERT INTO numbers VALUES (1,'one'),(2,'two'),(3,NULL),(4,'four'),(5,'five');
CREATE TABLE bulk (n INT DEFAULT 77, name VARCHAR(20));
CREATE TABLE loaded (a INT, b VARCHAR(20));
CREATE TABLE everything (
  id INT AUTO_INCREMENT PRIMARY KEY, c_tiny TINYINT, c_utiny TINYINT UNSIGNED, c_small SMALLINT,
  c_medium MEDIUMINT, c_big BIGINT UNSIGNED ZEROFILL, c_float FLOAT, c_double DOUBLE(10,3),
  c_decimal DECIMAL(20,5) DEFAULT 1.5, c_bit BIT(10), c_year YEAR, c_date DATE, c_time TIME(3),
  c_datetime DATETIME(6), c_timestamp TIMESTAMP NULL, c_char CHAR(5) DEFAULT 'abc',
  c_varchar VARCHAR(300) COLLATE utf8mb4_bin, c_binary BINARY(3), c_varbinary VARBINARY(10),
  c_blob BLOB, c_text MEDIUMTEXT, c_enum ENUM('a','b'), c_set SET('x','y','z'), c_json JSON,
  c_uuid UUID, c_inet6 INET6, c_point POINT, UNIQUE (c_small), KEY (c_date, c_time)
) CHARACTER SET utf8mb4;
SET time_zone='+00:00';
INSERT INTO everything VALUES
  (1,-1,255,-300,-70000,18446744073709551615,1.5,1234.5,-123.45600,b'1000000001',2024,'2024-02-29',
   '-838:59:58.123','2024-02-29 13:14:15.123456','2024-02-29 13:14:15','chär',REPEAT('v',300),'abc',
   X'00FF','blob','text','b','x,z','{"a": 1}','123e4567-e89b-12d3-a456-426655440000','2001:db8::1',
   POINT(1,2)),
  (2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,
   NULL,NULL,NULL,NULL,NULL,NULL,NULL),
  (3,0,0,0,0,0,0,0,0,0,0,'0000-00-00','00:00:00','2000-01-01 00:00:00','2000-01-01 01:00:00','','',
   '','','','','a','','[]','00000000-0000-0000-0000-000000000000','::',POINT(0,0));
CREATE VIEW seen AS SELECT n FROM numbers;
DELIMITER //
CREATE PROCEDURE two_results() BEGIN SELECT 1 AS a; SELECT n, name FROM numbers WHERE n < 3; END//
CREATE PROCEDURE out_param(IN a INT, OUT b INT) BEGIN SET b = a + 1; END//
DELIMITER ;
INSTALL SONAME 'auth_ed25519';
INSTALL SONAME 'dialog_examples';
CREATE USER app@localhost IDENTIFIED BY 'secret';
CREATE USER nopassword@localhost;
CREATE USER other@localhost IDENTIFIED BY 'different';
CREATE USER signed@localhost IDENTIFIED VIA ed25519 USING PASSWORD('secret');
CREATE USER asked@localhost IDENTIFIED VIA two_questions USING 'secret';
GRANT ALL ON *.* TO app@localhost, nopassword@localhost, other@localhost, signed@localhost, asked@localhost;
"""


class Server:
    """A private mariadbd in a temporary folder."""

    def __init__(self, folder, server_id):
        os.mkdir(folder)
        self.socket = os.path.join(folder, "s")
        data = os.path.join(folder, "data")
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root",
             "--auth-root-authentication-method=normal"],
            check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            ["mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
             f"--socket={self.socket}", "--skip-networking", "--log-bin", f"--server-id={server_id}",
             "--local-infile=1", "--sql-mode=", "--plugin-maturity=unknown",
             "--innodb-buffer-pool-size=16M"],
            stdout=subprocess.DEVNULL, stderr=open(os.path.join(folder, "log"), "w"))

    def run(self, sql):
        for _ in range(200):
            if os.path.exists(self.socket):
                break
            time.sleep(0.1)
        return subprocess.run(["mariadb", "--no-defaults", "-BN", "-uroot", f"-S{self.socket}"],
                              input=sql, text=True, check=True, stdout=subprocess.PIPE).stdout

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Packets:
    """Splits one direction's bytes into packets."""

    def __init__(self):
        self.bytes = b""

    def feed(self, more):
        self.bytes += more
        while len(self.bytes) >= 4:
            length = int.from_bytes(self.bytes[:3], "little")
            if len(self.bytes) < 4 + length:
                return
            yield self.bytes[3], self.bytes[4:4 + length]
            self.bytes = self.bytes[4 + length:]


class Proxy:
    """Listens on a port, forwards to the server's socket, keeps every packet."""

    def __init__(self, target):
        self.target = target
        self.lines = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            client, _ = self.listener.accept()
            if self.stopping():
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            self.lines.append("= connection")
            self.forward(client, server)

    def stopping(self):
        return self.target is None

    def forward(self, client, server):
        ways = {client: (server, "C", Packets()), server: (client, "S", Packets())}
        while True:
            # The client first: what it sent before an answer stands before that answer.
            readable, _, _ = select.select([client, server], [], [], 0.1)
            if not readable and self.stopping():
                return
            for source in sorted(readable, key=lambda s: s is server):
                to, direction, packets = ways[source]
                data = source.recv(1 << 16)
                for sequence, payload in packets.feed(data):
                    self.lines.append(f"{direction} {sequence} {payload.hex() or '-'}")
                if not data:
                    client.close()
                    server.close()
                    return
                try:
                    to.sendall(data)
                except OSError:
                    pass

    def stop(self):
        self.target = None
        socket.create_connection(("127.0.0.1", self.port)).close()
        self.thread.join()
        self.listener.close()


def mariadb(port, *arguments, user="app", **kwargs):
    subprocess.run(
        ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{port}", f"-u{user}", "-psecret",
         *arguments], stdout=subprocess.DEVNULL, **kwargs)


def mariadb_text(port):
    mariadb(port, "capture", "-e", """SELECT 1 + 1 AS two, 'a' AS letter, NULL;
        SELECT * FROM everything; UPDATE numbers SET name='zwei' WHERE n=2;
        UPDATE numbers SET name='two' WHERE n=2; SELECT 1/0; SHOW WARNINGS; USE mysql; \\s""")


def mariadb_errors(port):
    mariadb(port, "-f", "capture", text=True, stderr=subprocess.DEVNULL,
            input="SELEC 1;\nSELECT * FROM nowhere;\nINSERT INTO numbers VALUES (1,'x');\n"
                  "CALL out_param(1,2);\nSIGNAL SQLSTATE '45000';\n")
    subprocess.run(["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{port}", "-uapp", "-pwrong"],
                   stderr=subprocess.DEVNULL)


def mariadb_infile(port):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w") as file:
            file.write("1\tone\n2\ttwo\n")
        mariadb(port, "--local-infile=1", "-f", "capture", "-e",
                f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE loaded;"
                "LOAD DATA LOCAL INFILE '/no/such/file' INTO TABLE loaded",
                stderr=subprocess.DEVNULL)


def mariadb_ed25519(port):
    mariadb(port, "-e", "SELECT CURRENT_USER()", user="signed")


def mariadb_progress(port):
    mariadb(port, "capture", "-e", """SET progress_report_time=1;
        CREATE TABLE slow ENGINE=Aria SELECT seq, REPEAT('x', 200) t FROM seq_1_to_1500000;
        ALTER TABLE slow ADD KEY (t, seq), ENGINE=MyISAM; DROP TABLE slow""")


def mariadb_dump(port):
    subprocess.run(["mariadb-dump", "--no-defaults", "-h127.0.0.1", f"-P{port}", "-uapp",
                    "-psecret", "--single-transaction", "--master-data=2", "--routines", "capture",
                    "numbers", "everything", "seen"], check=True, stdout=subprocess.DEVNULL)


def mariadb_binlog(port):
    subprocess.run(["mariadb-binlog", "--no-defaults", "-h127.0.0.1", f"-P{port}", "-uapp",
                    "-psecret", "--read-from-remote-server", "--stop-position=600",
                    SERVER.run("SHOW BINARY LOGS").split()[0]], check=True, stdout=subprocess.DEVNULL)


def replica(port):
    other = Server(os.path.join(FOLDER, "replica"), 2)
    try:
        position = SERVER.run("SELECT @@gtid_binlog_pos").strip()
        other.run(f"SET GLOBAL gtid_slave_pos='{position}'; CHANGE MASTER TO "
                  f"master_host='127.0.0.1', master_port={port}, master_user='app', "
                  "master_password='secret', master_use_gtid=slave_pos; START SLAVE;")
        SERVER.run("INSERT INTO capture.bulk VALUES (5, 'five')")
        position = SERVER.run("SELECT @@gtid_binlog_pos").strip()
        other.run(f"SELECT MASTER_GTID_WAIT('{position}', 20); STOP SLAVE;")
    finally:
        other.stop()


def pymysql(port):
    import pymysql

    connection = pymysql.connect(
        host="127.0.0.1", port=port, user="app", password="secret", database="capture",
        client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS)
    cursor = connection.cursor()
    cursor.execute("SELECT * FROM everything")
    cursor.execute("SELECT 1; UPDATE numbers SET name='II' WHERE n=2; SELECT 'last'")
    while cursor.nextset():
        pass
    cursor.execute("UPDATE numbers SET name='two' WHERE n=2")
    connection.rollback()
    cursor.executemany("INSERT INTO bulk VALUES (%s, %s)", [(1, "a"), (2, None)])
    cursor.callproc("two_results")
    while cursor.nextset():
        pass
    try:
        cursor.execute("SELECT * FROM nowhere")
    except pymysql.err.ProgrammingError:
        pass
    connection.ping()
    connection.select_db("mysql")
    connection.close()


def mysql_connector(port):
    import datetime
    import decimal
    import io

    import mysql.connector

    connection = mysql.connector.connect(
        host="127.0.0.1", port=port, user="app", password="secret", database="capture",
        use_pure=True, ssl_disabled=True)
    cursor = connection.cursor(prepared=True)
    values = (1, -1, 1 << 40, 1.25, decimal.Decimal("12.50"), "text", b"bytes", None,
              datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
              datetime.timedelta(days=-3, hours=2))
    statement = "SELECT " + ", ".join(["%s"] * len(values))
    for _ in range(2):
        cursor.execute(statement, values)
        cursor.fetchall()
    cursor.execute("SELECT id, c_small, c_big, c_double, c_decimal, c_datetime, c_varchar, c_blob "
                   "FROM everything WHERE id < %s", (9,))
    cursor.fetchall()
    cursor.execute("SELECT LENGTH(%s)", (io.BytesIO(b"long data"),))
    cursor.fetchall()
    cursor.close()
    connection.cmd_statistics()
    connection.cmd_change_user("other", "different", "capture")
    connection.cmd_reset_connection()
    connection.close()


def deprecate_eof(port):
    """What no client at hand asks for: OK in place of EOF, with session tracking and cursors."""
    wanted = (1 << 9 | 1 << 13 | 1 << 15 | 1 << 16 | 1 << 17 | 1 << 18 | 1 << 19 | 1 << 21
              | 1 << 23 | 1 << 24)
    client = socket.create_connection(("127.0.0.1", port))

    def answer():
        # Whatever comes until nothing more does: this client need not understand it.
        while select.select([client], [], [], 0.3)[0] and client.recv(1 << 16):
            pass

    def send(sequence, payload):
        client.sendall(len(payload).to_bytes(3, "little") + bytes([sequence]) + payload)
        answer()

    answer()
    send(1, wanted.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + b"\x2d" + bytes(23)
         + b"nopassword\0\0mysql_native_password\0")
    send(0, b"\x03SET session_track_system_variables='*', session_track_state_change=1,"
            b" session_track_transaction_info='STATE'")
    send(0, b"\x02capture")
    send(0, b"\x03SELECT 1/0, n FROM numbers WHERE n < 3; SET timestamp=5; DO 1; SELECT 2")
    send(0, b"\x03START TRANSACTION; SELECT * FROM numbers LIMIT 1; COMMIT")
    send(0, b"\x03SELECT GET_LOCK(NULL, NULL, NULL)")
    send(0, b"\x04numbers\0")
    send(0, b"\x1b\x01\0")
    send(0, b"\x16SELECT n, ? FROM numbers WHERE n > ?")
    execute = b"\x17\1\0\0\0%c\1\0\0\0\0\1\x08\0\x08\0" + (7).to_bytes(8, "little") \
        + (1).to_bytes(8, "little")
    send(0, execute % 0)
    send(0, execute % 1)
    send(0, b"\x1c\1\0\0\0\2\0\0\0")
    send(0, b"\x1c\1\0\0\0\x64\0\0\0")
    send(0, b"\x1c\1\0\0\0\x64\0\0\0")
    send(0, b"\x16CALL out_param(?, ?)")
    send(0, execute[:1] + b"\2" + execute[2:] % 0)
    send(0, b"\x0d")
    send(0, b"\x1f")
    send(0, b"\x1e")
    send(0, b"\x01")
    client.close()


def connector_c(scenario):
    def run(port):
        subprocess.run([CLIENT, str(port), scenario], check=True, timeout=60)

    return run


SCENARIOS = {
    "mariadb_text": mariadb_text,
    "mariadb_errors": mariadb_errors,
    "mariadb_infile": mariadb_infile,
    "mariadb_ed25519": mariadb_ed25519,
    "mariadb_progress": mariadb_progress,
    "mariadb_dump": mariadb_dump,
    "mariadb_binlog": mariadb_binlog,
    "replica": replica,
    "pymysql": pymysql,
    "mysql_connector": mysql_connector,
    "deprecate_eof": deprecate_eof,
    **{f"connector_c_{name}": connector_c(name)
       for name in ["types", "longdata", "cursor", "bulk", "commands", "dialog"]},
}

if __name__ == "__main__":
    FOLDER = tempfile.mkdtemp()
    CLIENT = os.path.join(FOLDER, "client")
    flags = subprocess.run(["mariadb_config", "--cflags", "--libs"], text=True,
                           stdout=subprocess.PIPE, check=True).stdout.split()
    subprocess.run(["cc", os.path.join(HERE, "client.c"), "-rdynamic", "-o", CLIENT, *flags],
                   check=True)
    SERVER = Server(os.path.join(FOLDER, "primary"), 1)
    try:
        SERVER.run(SETUP)
        for name in sys.argv[1:] or SCENARIOS:
            proxy = Proxy(SERVER.socket)
            try:
                SCENARIOS[name](proxy.port)
            finally:
                proxy.stop()
            with open(os.path.join(HERE, f"{name}.txt"), "w") as file:
                file.write(f"# recorded by record.py: {name}\n")
                file.writelines(line + "\n" for line in proxy.lines)
            print(name, len(proxy.lines), "packets")
    finally:
        SERVER.stop()
        shutil.rmtree(FOLDER)
