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
CREATE TABLE copy LIKE t; INSERT INTO copy SELECT * FROM t WHERE id <> 0;
RENAME TABLE copy TO copied; TRUNCATE TABLE no_key; INSERT INTO no_key VALUES (9, 'nine');
CREATE TABLE IF NOT EXISTS t (x INT); DROP TABLE IF EXISTS never_there;
CREATE OR REPLACE TABLE latin_names (id INT, v VARCHAR(5)) SELECT 1 AS id, 'abc' AS v;
CREATE DATABASE other; CREATE TABLE other.x (id INT PRIMARY KEY) SELECT 1 AS id UNION SELECT 2; DROP DATABASE other;
ALTER DATABASE work COLLATE utf8mb4_unicode_ci; CREATE TABLE with_new_default (v VARCHAR(5)); INSERT INTO with_new_default VALUES ('ü');
FLUSH LOGS;

-- More tables in one statement, and what foreign keys change.
CREATE TABLE a (id INT PRIMARY KEY, v INT) ENGINE=InnoDB; CREATE TABLE b (id INT PRIMARY KEY, v INT, w INT) ENGINE=InnoDB;
INSERT INTO a VALUES (1, 10), (2, 20), (3, 30); INSERT INTO b VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4);
UPDATE a JOIN b ON a.id = b.id SET a.v = a.v + b.v, b.v = a.v * 2, b.w = 0 WHERE a.id < 3;
DELETE a, b FROM a JOIN b ON a.id = b.id WHERE a.id = 2; DELETE FROM b USING b LEFT JOIN a ON a.id = b.id WHERE a.id IS NULL;
CREATE TABLE up (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE down (id INT PRIMARY KEY, cascaded INT, nulled INT, FOREIGN KEY (cascaded) REFERENCES up (id) ON UPDATE CASCADE ON DELETE CASCADE,
  FOREIGN KEY (nulled) REFERENCES up (id) ON UPDATE SET NULL ON DELETE SET NULL) ENGINE=InnoDB;
INSERT INTO up VALUES (1), (2), (3); INSERT INTO down VALUES (1, 1, 2), (2, 2, 3), (3, 3, 1), (4, NULL, NULL);
UPDATE up SET id = 10 WHERE id = 1; DELETE FROM up WHERE id = 2; REPLACE INTO up VALUES (3);

-- Views, accounts, prepared statements, time zones, names that temporary tables hide.
CREATE VIEW view_a AS SELECT id, v FROM a WHERE v > 0 WITH CHECK OPTION; INSERT INTO view_a VALUES (50, 5); ALTER VIEW view_a AS SELECT id FROM a;
CREATE OR REPLACE VIEW view_b AS SELECT * FROM view_a; CREATE VIEW gone AS SELECT 1; DROP VIEW gone;
CREATE USER replayed@localhost IDENTIFIED BY 'secret'; GRANT SELECT, INSERT ON work.* TO replayed@localhost; REVOKE INSERT ON work.* FROM replayed@localhost;
SET @v = 7; PREPARE s FROM 'INSERT INTO a VALUES (?, ?)'; EXECUTE s USING @v, @v; DEALLOCATE PREPARE s;
PREPARE s FROM 'CREATE TABLE prepared (id INT)'; EXECUTE s; DEALLOCATE PREPARE s;
CREATE TABLE zoned (id INT PRIMARY KEY, ts TIMESTAMP NULL, dt DATETIME DEFAULT NOW()); SET time_zone = '+05:30';
INSERT INTO zoned VALUES (1, '2020-06-01 12:00:00', '2020-06-01 12:00:00'), (2, NULL, NULL); UPDATE zoned SET ts = ts + INTERVAL 1 HOUR;
ALTER TABLE zoned ADD COLUMN more TIMESTAMP NULL DEFAULT NOW(); SET time_zone = DEFAULT;
CREATE TABLE stamps (a TIMESTAMP, b TIMESTAMP, c INT); INSERT INTO stamps (c) VALUES (1);
CREATE TEMPORARY TABLE a (x INT); INSERT INTO a VALUES (1); DROP TEMPORARY TABLE a; DELETE FROM a WHERE id = 3;
SET sql_log_bin = 0; CREATE DATABASE unlogged; CREATE TABLE unlogged.x (id INT); INSERT INTO unlogged.x VALUES (1); DROP DATABASE unlogged; SET sql_log_bin = 1;
INSERT INTO a VALUES (60, 6), (61, 6) RETURNING id; SET STATEMENT sql_mode = '' FOR INSERT INTO a VALUES (62, '7x');
CREATE TABLE parted (id INT, KEY (id)) PARTITION BY HASH (id) PARTITIONS 2; INSERT INTO parted VALUES (1), (2), (3); DELETE FROM parted WHERE id = 2;
OPTIMIZE TABLE a; ANALYZE TABLE a; ALTER TABLE a ENGINE=InnoDB, ORDER BY id;
CREATE TABLE virtuals (id INT PRIMARY KEY, n INT, tw INT AS (n * 2) VIRTUAL, th INT AS (n * 3) STORED, KEY (tw)); INSERT INTO virtuals (id, n) VALUES (1, 1), (2, 2);
UPDATE virtuals SET n = 5 WHERE tw = 4; DELETE FROM virtuals WHERE th = 3;

-- Values at their ends.
CREATE TABLE wide (id INT PRIMARY KEY, a BIGINT UNSIGNED, b DECIMAL(65,30), c DOUBLE, d FLOAT, e BIT(64), f TIMESTAMP(6) NULL, g DATETIME(3), h TIME(2),
  i YEAR, j SET('a','b','c'), k ENUM('x','y'), l LONGBLOB, m CHAR(255), n VARBINARY(1000), o JSON, p DATE, v INT AS (id * 2) VIRTUAL, w INT AS (id * 3) STORED);
INSERT INTO wide (id, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) VALUES
  (1, 18446744073709551615, -99999999999999999999999999999999999.999999999999999999999999999999, 1.7976931348623157e308, -3.4e38, b'1', '2038-01-19 03:14:07.999999',
   '9999-12-31 23:59:59.999', '-838:59:59.99', 2155, 'a,c', 'y', REPEAT(x'00ff', 70000), REPEAT('ÿ', 255), REPEAT('x', 1000), '{"k": [1, 2]}', '1000-01-01'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
UPDATE wide SET l = CONCAT(l, 'tail'), b = -b, h = '00:00:00.01' WHERE id = 1;
