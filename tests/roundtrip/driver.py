"""The everyday use of a driver (PyMySQL): connect, create, insert, read, change, delete, errors, transactions.

    driver.py SOCKET
"""

import datetime
import decimal
import sys

import pymysql
import pymysql.cursors


def main(socket):
    checks = 0
    connection = pymysql.connect(unix_socket=socket, user="root", charset="utf8mb4")

    def expect(got, wanted):
        nonlocal checks
        checks += 1
        assert got == wanted, f"{got!r} instead of {wanted!r}"

    with connection.cursor() as cursor:
        cursor.execute("CREATE OR REPLACE DATABASE driver")
        cursor.execute("USE driver")
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(50), d DECIMAL(10,2), f DOUBLE, w DATETIME(6), "
                       "day DATE, tm TIME, b BLOB, j JSON, bits BIT(10), e ENUM('a','b'), u BIGINT UNSIGNED, y YEAR) CHARSET utf8mb4")
        row = ("grüße 🦭 '\"\\", decimal.Decimal("12.50"), 0.1, datetime.datetime(2024, 2, 29, 1, 2, 3, 456), datetime.date(2024, 2, 29),
               datetime.timedelta(hours=30, seconds=5), bytes(range(256)), '{"a": 1}', b"\x03\xff", "b", 18446744073709551615, 2024)
        columns = "s, d, f, w, day, tm, b, j, bits, e, u, y"
        expect(cursor.execute(f"INSERT INTO t ({columns}) VALUES ({', '.join(['%s'] * 12)})", row), 1)
        expect(cursor.lastrowid, 1)
        expect(cursor.execute(f"SELECT {columns} FROM t"), 1)
        expect(cursor.fetchone(), row)
        expect(cursor.executemany("INSERT INTO t (s, f) VALUES (%s, %s)", [(f"row {i}", i) for i in range(500)]), 500)
        expect(cursor.execute("UPDATE t SET d = f * 2 WHERE f >= %s", (490,)), 10)
        cursor.execute("SELECT SUM(d), COUNT(*), MAX(s) FROM t WHERE d > 100")
        expect(cursor.fetchall(), ((decimal.Decimal("9890.00"), 10, "row 499"),))
        expect(cursor.execute("DELETE FROM t WHERE id > %s", (100,)), 401)
        try:
            cursor.execute("INSERT INTO t (id) VALUES (1)")
            raise AssertionError("a duplicate key was accepted")
        except pymysql.err.IntegrityError as error:
            expect(error.args[0], 1062)
        try:
            cursor.execute("SELEC 1")
            raise AssertionError("a syntax error was accepted")
        except pymysql.err.ProgrammingError as error:
            expect(error.args[0], 1064)
    # Autocommit is off in PyMySQL.
    connection.rollback()
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute("SELECT COUNT(*) AS n FROM t")
        expect(cursor.fetchone(), {"n": 0})
        cursor.execute("INSERT INTO t (s) VALUES ('kept')")
    connection.commit()
    connection.ping()
    with connection.cursor(pymysql.cursors.SSCursor) as cursor:
        cursor.execute("SELECT s FROM t")
        expect(cursor.fetchall(), [("kept",)])
    connection.select_db("driver")
    expect(connection.get_server_info().startswith("11."), True)
    connection.close()
    print(f"{checks} checks")


if __name__ == "__main__":
    main(sys.argv[1])
