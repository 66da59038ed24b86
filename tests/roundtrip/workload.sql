-- Statements of every kind that is logged, for the replay of the log into a MariaDB.

SET NAMES utf8mb4;
CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100), n INT, d DECIMAL(20,6), KEY (n)) ENGINE=InnoDB;
CREATE TABLE after_restart (id INT PRIMARY KEY, v TEXT);
CREATE TABLE no_key (a INT, b VARCHAR(20));

-- Rows: single, many, by select, replaced, on duplicate key, ignored.
INSERT INTO t (v, n) VALUES ('one', 1), ('zwölf 🦭', 12), (NULL, NULL);
INSERT INTO t (v, n, d) SELECT CONCAT(a.v, b.v), a.n + b.n, 1 / 3 FROM t a JOIN t b;
REPLACE INTO t (id, v) VALUES (1, 'replaced'), (100, 'new');
INSERT INTO t (id, v) VALUES (100, 'again') ON DUPLICATE KEY UPDATE v = CONCAT(v, '+');
INSERT IGNORE INTO t (id, v) VALUES (100, 'no'), (101, 'yes');
UPDATE t SET n = n + 1, d = n / 7 WHERE n IS NOT NULL;
UPDATE t SET id = id + 1000 WHERE id BETWEEN 5 AND 7;
DELETE FROM t WHERE v IS NULL ORDER BY id LIMIT 1;
INSERT INTO no_key VALUES (1, 'x'), (1, 'x'), (2, NULL), (NULL, '');
UPDATE no_key SET b = 'y' WHERE a = 1 LIMIT 1;
DELETE FROM no_key WHERE a = 2;

-- Transactions.
BEGIN; INSERT INTO t (v) VALUES ('in transaction'); UPDATE t SET n = 77 WHERE v = 'in transaction'; COMMIT;
BEGIN; INSERT INTO t (v) VALUES ('rolled back'); ROLLBACK;
BEGIN; INSERT INTO t (v) VALUES ('before'); SAVEPOINT s; INSERT INTO t (v) VALUES ('undone'); ROLLBACK TO s; INSERT INTO t (v) VALUES ('after'); COMMIT;
SET autocommit = 0; INSERT INTO t (v) VALUES ('autocommit off'); COMMIT; SET autocommit = 1;

-- Not logged: temporary tables as such; what they feed is.
CREATE TEMPORARY TABLE tmp (id INT, v VARCHAR(10)); INSERT INTO tmp VALUES (1, 'tmp'), (2, 'tmp2'); INSERT INTO t (v) SELECT v FROM tmp; DROP TEMPORARY TABLE tmp;

-- The session's settings travel with statements.
SET timestamp = 1000000000; INSERT INTO t (v, n) VALUES (NOW(), UNIX_TIMESTAMP()); SET timestamp = DEFAULT;
SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'; CREATE TABLE "quoted" (id INT, v VARCHAR(20) DEFAULT 'back\slash'); INSERT INTO "quoted" VALUES (1, 'a\b');
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; INSERT INTO t (id, v) VALUES (0, 'zero'); SET sql_mode = DEFAULT;
SET collation_connection = utf8mb4_bin; CREATE TABLE by_connection AS SELECT 'x' AS c, 1 AS n, 1.5 AS d, NOW() AS w; SET NAMES utf8mb4;
SET character_set_client = latin1; CREATE TABLE latin_names (id INT COMMENT 'ä'); SET NAMES utf8mb4;
SET foreign_key_checks = 0; CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent_later (id) ON DELETE CASCADE) ENGINE=InnoDB;
CREATE TABLE parent_later (id INT PRIMARY KEY) ENGINE=InnoDB; SET foreign_key_checks = 1;
INSERT INTO parent_later VALUES (1), (2); INSERT INTO child VALUES (1, 1), (2, 1), (3, 2); DELETE FROM parent_later WHERE id = 1;

-- DDL.
ALTER TABLE t ADD COLUMN extra INT DEFAULT 5 AFTER v, ADD INDEX (d), MODIFY v VARCHAR(200);
INSERT INTO t (v, extra) VALUES ('altered', 6);
ALTER TABLE t DROP COLUMN d, RENAME INDEX n TO by_n, ALTER COLUMN extra SET DEFAULT 9, COMMENT = 'altered';
UPDATE t SET extra = id WHERE id < 5;
CREATE INDEX by_v ON t (v(10)); DROP INDEX by_n ON t;
CREATE TABLE copy LIKE t; INSERT INTO copy SELECT * FROM t;
RENAME TABLE copy TO copied; TRUNCATE TABLE no_key; INSERT INTO no_key VALUES (9, 'nine');
CREATE TABLE IF NOT EXISTS t (x INT); DROP TABLE IF EXISTS never_there;
CREATE OR REPLACE TABLE latin_names (id INT, v VARCHAR(5)) SELECT 1 AS id, 'abc' AS v;
CREATE DATABASE other; CREATE TABLE other.x (id INT PRIMARY KEY) SELECT 1 AS id UNION SELECT 2; DROP DATABASE other;
ALTER DATABASE work COLLATE utf8mb4_unicode_ci; CREATE TABLE with_new_default (v VARCHAR(5)); INSERT INTO with_new_default VALUES ('ü');
FLUSH LOGS;

-- Values at their ends.
CREATE TABLE wide (id INT PRIMARY KEY, a BIGINT UNSIGNED, b DECIMAL(65,30), c DOUBLE, d FLOAT, e BIT(64), f TIMESTAMP(6) NULL, g DATETIME(3), h TIME(2),
  i YEAR, j SET('a','b','c'), k ENUM('x','y'), l LONGBLOB, m CHAR(255), n VARBINARY(1000), o JSON, p DATE, v INT AS (id * 2) VIRTUAL, w INT AS (id * 3) STORED);
INSERT INTO wide (id, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) VALUES
  (1, 18446744073709551615, -99999999999999999999999999999999999.999999999999999999999999999999, 1.7976931348623157e308, -3.4e38, b'1', '2038-01-19 03:14:07.999999',
   '9999-12-31 23:59:59.999', '-838:59:59.99', 2155, 'a,c', 'y', REPEAT(x'00ff', 70000), REPEAT('ÿ', 255), REPEAT('x', 1000), '{"k": [1, 2]}', '1000-01-01'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
UPDATE wide SET l = CONCAT(l, 'tail'), b = -b, h = '00:00:00.01' WHERE id = 1;
