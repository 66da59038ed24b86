-- A table of every column type, and of everything else that a dump carries. Runs on MariaDB 10.11, which dumps it.

SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET sql_mode = 'NO_ENGINE_SUBSTITUTION';

-- ------------------------------------------------------------------ numbers
CREATE TABLE integers (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  t TINYINT, tu TINYINT UNSIGNED, tz TINYINT(3) UNSIGNED ZEROFILL,
  s SMALLINT, su SMALLINT UNSIGNED, sz SMALLINT(5) ZEROFILL,
  m MEDIUMINT, mu MEDIUMINT UNSIGNED, mz MEDIUMINT(8) ZEROFILL,
  i INT, iu INT UNSIGNED, iz INT(10) ZEROFILL, narrow INT(3), wide INT(20) ZEROFILL,
  b BIGINT, bu BIGINT UNSIGNED, bz BIGINT(20) ZEROFILL,
  flag BOOLEAN NOT NULL DEFAULT TRUE, defaulted INT NOT NULL DEFAULT -7
) ENGINE=InnoDB AUTO_INCREMENT=100;
INSERT INTO integers VALUES
  (1,-128,0,0,-32768,0,0,-8388608,0,0,-2147483648,0,0,-999,0,-9223372036854775808,0,0,0,-1),
  (2,127,255,255,32767,65535,65535,8388607,16777215,16777215,2147483647,4294967295,4294967295,1000,4294967295,
   9223372036854775807,18446744073709551615,18446744073709551615,1,1),
  (3,0,1,7,0,1,7,0,1,7,0,1,7,0,7,0,1,7,1,0),
  (4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0);
INSERT INTO integers (t) VALUES (5), (-5), (NULL);

CREATE TABLE decimals (
  id INT NOT NULL PRIMARY KEY,
  d DECIMAL, d1 DECIMAL(1,0), d11 DECIMAL(1,1), d5 DECIMAL(5,2), du DECIMAL(10,3) UNSIGNED, dz DECIMAL(12,4) ZEROFILL,
  d18 DECIMAL(18,9), d30 DECIMAL(38,38), dmax DECIMAL(65,30), dint DECIMAL(65,0), n NUMERIC(9,4) DEFAULT 1.5, f FIXED(6,1)
);
INSERT INTO decimals VALUES
  (1,0,0,0,0,0,0,0,0,0,0,0,0),
  (2,9999999999,9,0.9,999.99,9999999.999,99999999.9999,999999999.999999999,
   0.99999999999999999999999999999999999999,
   99999999999999999999999999999999999.999999999999999999999999999999,
   99999999999999999999999999999999999999999999999999999999999999999,99999.9999,99999.9),
  (3,-9999999999,-9,-0.9,-999.99,0.001,0.0001,-999999999.999999999,
   -0.99999999999999999999999999999999999999,
   -99999999999999999999999999999999999.999999999999999999999999999999,
   -99999999999999999999999999999999999999999999999999999999999999999,-99999.9999,-99999.9),
  (4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
  (5,1,1,0.1,0.01,0.100,1.1000,0.000000001,0.00000000000000000000000000000000000001,
   0.000000000000000000000000000001,1,0.0001,0.1);

CREATE TABLE floats (
  id INT NOT NULL PRIMARY KEY,
  f FLOAT, fu FLOAT UNSIGNED, f72 FLOAT(7,2), fz FLOAT ZEROFILL, d DOUBLE, du DOUBLE UNSIGNED, d104 DOUBLE(10,4),
  dz DOUBLE(12,3) ZEROFILL, r REAL DEFAULT 1e10, f53 FLOAT(53)
);
INSERT INTO floats VALUES
  (1,0,0,0,0,0,0,0,0,0,0),
  (2,3.402823466e38,3.402823466e38,99999.99,1,1.7976931348623157e308,1.7976931348623157e308,999999.9999,1.5,1,1),
  (3,-3.402823466e38,1.175494351e-38,-99999.99,0.5,-1.7976931348623157e308,2.2250738585072014e-308,-999999.9999,0,-1,-1),
  (4,1.175494351e-38,1.4e-45,0.01,1e10,2.2250738585072014e-308,4.9e-324,0.0001,12345678.125,1e-5,1e15),
  (5,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
  (6,0.1,0.3,0.1,0.1,0.1,0.3,0.1,0.1,0.1,0.1),
  (7,1e6,1e7,1,123456,1e14,1e15,1,1,1e16,1e17),
  (8,16777217,123456789,1,1,9007199254740993,3.141592653589793,2.7183,1,-0.0,1e100),
  (9,-1e-10,1e-4,-1,1,1e-15,1e-5,-1,1,123456789012345680,0.001);

CREATE TABLE bits (
  id INT NOT NULL PRIMARY KEY, b1 BIT, b2 BIT(2), b7 BIT(7), b8 BIT(8) DEFAULT b'101', b9 BIT(9), b31 BIT(31), b32 BIT(32),
  b33 BIT(33), b63 BIT(63), b64 BIT(64), UNIQUE KEY (b64)
);
INSERT INTO bits VALUES
  (1,b'0',b'0',b'0',b'0',b'0',b'0',b'0',b'0',b'0',b'0'),
  (2,b'1',b'11',127,255,511,2147483647,4294967295,8589934591,9223372036854775807,18446744073709551615),
  (3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
  (4,b'1',b'10',b'1000000',39,b'100000000',0x5c5c5c,0x27220a0d,0x1a00,0x80,0x3132333435363738);
INSERT INTO bits (id) VALUES (5);

-- --------------------------------------------------------------------- text
CREATE TABLE texts_utf8mb4 (
  id INT NOT NULL PRIMARY KEY,
  c CHAR(10), c0 CHAR(0), v VARCHAR(255), v0 VARCHAR(0), tt TINYTEXT, t TEXT, mt MEDIUMTEXT, lt LONGTEXT, t20 TEXT(20),
  general VARCHAR(50) COLLATE utf8mb4_general_ci, uca VARCHAR(50) COLLATE utf8mb4_unicode_ci,
  bin_ VARCHAR(50) COLLATE utf8mb4_bin, u520 VARCHAR(50) COLLATE utf8mb4_unicode_520_ci,
  nopad VARCHAR(50) COLLATE utf8mb4_nopad_bin, notnull VARCHAR(20) NOT NULL DEFAULT 'dflt ''q'' \\ "x"',
  KEY (general), KEY (uca), KEY (bin_), KEY pre (t(10)), KEY (notnull, v(20) DESC)
) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci COMMENT='four bytes: 🦭, quote '' and \\';
INSERT INTO texts_utf8mb4 VALUES
  (1,'','','','','','','','','','','','','','',''),
  (2,'🦭🦭🦭🦭🦭🦭🦭🦭🦭🦭','','grüße aus Köln','','日本語','Ελληνικά','кириллица','עברית','𝒳𝒴𝒵','Straße','Straße','Straße','Straße','Straße','ÿ'),
  (3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'null'),
  (4,'trail','','trail  ','','a\0b','line\nfeed\rreturn\ttab','back\\slash','quote''s "double"','\Z','A','A','A','A','A ','%_\%\_'),
  (5,'NULL','','NULL','','\\N','-- comment','/* c */',';','#','a','a','a','a','a','ß');
INSERT INTO texts_utf8mb4 (id, mt, lt) VALUES (6, REPEAT('äöü🦭', 5000), REPEAT('0123456789', 20000));

CREATE TABLE texts_utf8mb3 (
  id INT NOT NULL PRIMARY KEY, c CHAR(10), v VARCHAR(255), t TEXT, lt LONGTEXT,
  general VARCHAR(50) COLLATE utf8mb3_general_ci UNIQUE, uca VARCHAR(50) COLLATE utf8mb3_unicode_ci, b VARCHAR(50) COLLATE utf8mb3_bin
) DEFAULT CHARSET=utf8mb3;
INSERT INTO texts_utf8mb3 VALUES (1,'','','','','','',''), (2,'äöüß','日本語','Ελληνικά','кириллица','é','e','E'),
  (3,NULL,NULL,NULL,NULL,NULL,NULL,NULL);

CREATE TABLE texts_latin1 (
  id INT NOT NULL PRIMARY KEY, c CHAR(10), v VARCHAR(255), t TEXT, mt MEDIUMTEXT,
  swedish VARCHAR(50) COLLATE latin1_swedish_ci, german VARCHAR(50) COLLATE latin1_german1_ci, b VARCHAR(50) COLLATE latin1_bin,
  general VARCHAR(50) COLLATE latin1_general_cs, KEY (swedish, b)
) DEFAULT CHARSET=latin1;
INSERT INTO texts_latin1 VALUES (1,'','','','','','','',''), (2,'äöüß','€uro','ÿþý','Ÿœ','Ä','Ä','Ä','Ä'),
  (3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);

CREATE TABLE texts_ascii (
  id INT NOT NULL PRIMARY KEY, c CHAR(10), v VARCHAR(255), t TEXT, b VARCHAR(36) COLLATE ascii_bin, UNIQUE (b)
) DEFAULT CHARSET=ascii;
INSERT INTO texts_ascii VALUES (1,'','','',''), (2,'abc','~!@#$%^&*()','plain','0e984725-c51c-4bf4-9960-e1c80e27aba0'), (3,NULL,NULL,NULL,NULL);

CREATE TABLE mixed_charsets (
  id INT NOT NULL PRIMARY KEY, a VARCHAR(10) CHARACTER SET latin1, b VARCHAR(10) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin,
  c VARCHAR(10) CHARACTER SET ascii, d VARCHAR(10) CHARACTER SET binary, e VARCHAR(10), f TEXT CHARACTER SET utf8mb4,
  g ENUM('ä','ö') CHARACTER SET latin1, h SET('x','ÿ') CHARACTER SET latin1
) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO mixed_charsets VALUES (1,'é','é','e',0xE9,'é','é','ä','x,ÿ'), (2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);

-- ------------------------------------------------------------------- binary
CREATE TABLE binaries (
  id INT NOT NULL PRIMARY KEY, b BINARY(4), b1 BINARY, b255 BINARY(255), v VARBINARY(300), tb TINYBLOB, bl BLOB, mb MEDIUMBLOB,
  lb LONGBLOB, bdef BINARY(3) NOT NULL DEFAULT 'a\0b', KEY (v(5)), KEY (bl(10), b)
);
INSERT INTO binaries VALUES
  (1,'','','','','','','','','\0\0\0'),
  (2,0x00FF00FF,0xFF,REPEAT(0xFE,255),0x0001020304050607080A0D1A22275C5F25,0x00,0x000000,0xDEADBEEF,UNHEX(REPEAT('00FF',5000)),'abc'),
  (3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'   ');
INSERT INTO binaries (id, bl) SELECT 10 + s.seq, UNHEX(HEX(CHAR(s.seq, 255 - s.seq, s.seq USING binary))) FROM seq_0_to_255 s;

-- ------------------------------------------------------------ enum, set, JSON
CREATE TABLE enums (
  id INT NOT NULL PRIMARY KEY, e ENUM('a','b','it''s','with,comma','','ü','x\\y') DEFAULT 'b', en ENUM('one','two') NOT NULL,
  s SET('a','b','c','it''s','ü') DEFAULT 'a,c', sn SET('x','y') NOT NULL DEFAULT '',
  big SET('1','2','3','4','5','6','7','8','9','10','11','12','13','14','15','16','17','18','19','20','21','22','23','24','25','26','27',
    '28','29','30','31','32','33','34','35','36','37','38','39','40','41','42','43','44','45','46','47','48','49','50','51','52','53',
    '54','55','56','57','58','59','60','61','62','63','64'),
  KEY (e), KEY (s)
) DEFAULT CHARSET=utf8mb4;
INSERT INTO enums VALUES (1,'a','one','','','1'), (2,'it''s','two','a,b,c,it''s,ü','x,y','1,64'), (3,NULL,'one',NULL,'x',NULL),
  (4,'with,comma','two','ü','y','33,32'), (5,'','one','b','',18446744073709551615), (6,'ü','one','a','x','63'), (7,'x\\y','one','a','x','2');
INSERT INTO enums (id) VALUES (8);
INSERT INTO enums (id, e) VALUES (9, 'no such value');

CREATE TABLE jsons (id INT NOT NULL PRIMARY KEY, j JSON, jn JSON NOT NULL DEFAULT '{}', k VARCHAR(20) AS (JSON_VALUE(j, '$.k')) VIRTUAL);
INSERT INTO jsons (id, j) VALUES (1,'{"k": "v", "n": [1, 2.5, null, true], "s": "\\u00e9\\"q\\" 🦭"}'), (2,'[]'), (3,NULL), (4,'"text"'), (5,'  {"k" :  1}  ');

-- --------------------------------------------------------------------- times
CREATE TABLE times (
  id INT NOT NULL PRIMARY KEY, d DATE, t TIME, t1 TIME(1), t6 TIME(6), dt DATETIME, dt3 DATETIME(3), dt6 DATETIME(6),
  ts TIMESTAMP NULL, ts3 TIMESTAMP(3) NULL, ts6 TIMESTAMP(6) NULL, y YEAR, y4 YEAR(4),
  KEY (d), KEY (t6), KEY (dt6 DESC), KEY (ts, y)
);
INSERT INTO times VALUES
  (1,'0000-00-00','00:00:00','00:00:00.0','00:00:00.000000','0000-00-00 00:00:00','0000-00-00','0000-00-00','0000-00-00','0000-00-00','0000-00-00',0,1901),
  (2,'9999-12-31','838:59:59','838:59:59.9','838:59:59.999999','9999-12-31 23:59:59','9999-12-31 23:59:59.999','9999-12-31 23:59:59.999999',
   '2038-01-19 03:14:07','2038-01-19 03:14:07.999','2038-01-19 03:14:07.999999',2155,2155),
  (3,'1000-01-01','-838:59:59','-838:59:59.9','-838:59:59.999999','1000-01-01','1000-01-01','1000-01-01','1970-01-01 00:00:01','1970-01-01 00:00:01.001',
   '1970-01-01 00:00:01.000001',1901,1901),
  (4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
  (5,'2024-02-29','-00:00:01','-00:00:00.1','-00:00:00.000001','2024-02-29 12:34:56','2024-02-29 12:34:56.7','2024-02-29 12:34:56.789012',
   '2024-02-29 12:34:56','2024-02-29 12:34:56.7','2024-02-29 12:34:56.789012',2024,24),
  (6,'2024-00-00','23:59:59','12:00:00','00:00:59.5','2024-01-00 00:00:00','0000-01-01','0001-01-01 00:00:00.5','2001-09-09 01:46:40',NULL,NULL,70,69);

CREATE TABLE automatic_times (
  id INT NOT NULL PRIMARY KEY AUTO_INCREMENT,
  created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, changed TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  d DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, d3 DATETIME(3) NOT NULL DEFAULT NOW(3), day DATE DEFAULT (CURRENT_DATE),
  fixed TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00', zero TIMESTAMP NOT NULL DEFAULT '0000-00-00 00:00:00', dd DATE NOT NULL DEFAULT '1999-12-31',
  tt TIME DEFAULT '12:00:00', y YEAR DEFAULT 2000
);
SET timestamp = 1700000000.123456;
INSERT INTO automatic_times () VALUES (), (), ();
SET timestamp = DEFAULT;

-- ----------------------------------------------------- columns with clauses
CREATE TABLE generated (
  id INT NOT NULL PRIMARY KEY, a INT, b INT, s VARCHAR(30),
  v INT AS (a + b) VIRTUAL, st INT GENERATED ALWAYS AS (a * b) STORED, up VARCHAR(30) AS (UPPER(s)) VIRTUAL COMMENT 'in capitals',
  cat VARCHAR(80) AS (CONCAT(s, '-', a, '\'x')) STORED, cs INT AS (CASE WHEN a > 0 THEN 1 WHEN a IS NULL THEN -1 ELSE 0 END) VIRTUAL,
  dv DECIMAL(12,2) AS (a / 3) STORED, KEY (v), UNIQUE KEY (st, id)
);
INSERT INTO generated (id, a, b, s) VALUES (1,1,2,'abc'), (2,NULL,1,NULL), (3,-5,7,'ß'), (4,0,0,'');

CREATE TABLE checks (
  id INT NOT NULL PRIMARY KEY, a INT CHECK (a > 0), b INT DEFAULT 5 CHECK (b BETWEEN 1 AND 10 AND b <> 7), c VARCHAR(10) CHECK (c IN ('x','y') OR c LIKE 'z%'),
  d DATE, CONSTRAINT ordered CHECK (a <= b), CONSTRAINT `odd name` CHECK (LENGTH(c) < 5 AND NOT (a = 3)), CHECK (d IS NULL OR d > '2000-01-01')
);
INSERT INTO checks VALUES (1,1,2,'x','2020-01-01'), (2,NULL,NULL,NULL,NULL), (3,5,5,'zzz',NULL);

CREATE TABLE expression_defaults (
  id INT NOT NULL PRIMARY KEY, a INT DEFAULT (1 + 2 * 3), b VARCHAR(50) DEFAULT (CONCAT('x', UPPER('y'))), c INT DEFAULT (a + 1),
  u VARCHAR(36) DEFAULT (UUID()), r DOUBLE DEFAULT (RAND()), t TEXT DEFAULT 'text default', bl BLOB DEFAULT 'blob', n INT DEFAULT NULL,
  d DATETIME DEFAULT (NOW() + INTERVAL 1 DAY), x INT DEFAULT (IF(id > 5, 1, 0))
);
INSERT INTO expression_defaults VALUES (1,DEFAULT,DEFAULT,DEFAULT,'u',0.5,DEFAULT,DEFAULT,DEFAULT,'2020-01-01',DEFAULT), (9,1,'b',3,NULL,NULL,NULL,NULL,NULL,NULL,DEFAULT);

CREATE TABLE invisible (
  id INT NOT NULL PRIMARY KEY COMMENT 'the key', hidden INT INVISIBLE DEFAULT 3 COMMENT 'not in *', shown INT, other VARCHAR(5) INVISIBLE,
  KEY (hidden) COMMENT 'an index', KEY ignored_one (shown) IGNORED
) COMMENT='hides some';
INSERT INTO invisible (id, hidden, shown, other) VALUES (1,2,3,'x'), (2,NULL,NULL,NULL);

CREATE TABLE many_indexes (
  a INT NOT NULL, b VARCHAR(100) NOT NULL, c INT, d TEXT, e DATETIME, f BLOB, g INT UNSIGNED NOT NULL AUTO_INCREMENT,
  PRIMARY KEY (a, b(20) DESC), UNIQUE KEY u (c, a), UNIQUE KEY nullable (c, e), KEY pre (b(5), d(7), f(3)), KEY des (c DESC, e ASC, a DESC), KEY (g),
  KEY hashed (c) USING HASH, KEY tree (e) USING BTREE, FULLTEXT KEY words (d)
) ENGINE=InnoDB AUTO_INCREMENT=5000 ROW_FORMAT=DYNAMIC;
INSERT INTO many_indexes (a,b,c,d,e,f) VALUES (1,'one',1,'text one','2020-01-01',0x00), (1,'two',2,NULL,NULL,NULL), (2,'one',NULL,'',NULL,''), (-1,'',3,'🦭','2021-01-01','x');

-- ------------------------------------------------------- tables and their ties
CREATE TABLE parent (id INT UNSIGNED NOT NULL PRIMARY KEY, code CHAR(3) NOT NULL, name VARCHAR(20), UNIQUE KEY code (code, name)) ENGINE=InnoDB;
CREATE TABLE child (
  id INT NOT NULL PRIMARY KEY, parent_id INT UNSIGNED, code CHAR(3), name VARCHAR(20), sibling INT,
  CONSTRAINT to_parent FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE SET NULL,
  FOREIGN KEY by_code (code, name) REFERENCES parent (code, name) ON DELETE SET NULL, FOREIGN KEY (sibling) REFERENCES child (id) ON UPDATE NO ACTION
) ENGINE=InnoDB;
INSERT INTO parent VALUES (1,'abc','one'), (2,'def','two'), (3,'ghi',NULL);
INSERT INTO child VALUES (1,1,'abc','one',NULL), (2,NULL,NULL,NULL,1), (3,2,'zzz',NULL,3);
-- Comes before its parent in a dump.
CREATE TABLE aaa_child (id INT NOT NULL PRIMARY KEY, p INT UNSIGNED NOT NULL, CONSTRAINT a_fk FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
INSERT INTO aaa_child VALUES (1, 3);

CREATE TABLE no_key (a INT, b VARCHAR(20), c BLOB);
INSERT INTO no_key VALUES (1,'a',NULL), (1,'a',NULL), (NULL,NULL,NULL), (2,'','');
CREATE TABLE only_unique (a INT NOT NULL, b INT, UNIQUE KEY (a)) ENGINE=InnoDB;
INSERT INTO only_unique VALUES (3,1), (1,NULL), (2,2);
CREATE TABLE empty_table (a INT, b TEXT);
CREATE TABLE `odd ``name`` of a täble ☃; -- x` (`a column` INT, `select` INT, `ü``q` VARCHAR(5), `"dq"` INT, `per%cent` INT, `back\slash` INT, KEY `odd key` (`a column`), KEY `from` (`select`));
INSERT INTO `odd ``name`` of a täble ☃; -- x` VALUES (1,2,'3',4,5,6);
CREATE TABLE `order` (`group` INT PRIMARY KEY, `key` INT, `table` INT);
INSERT INTO `order` VALUES (1,2,3);
CREATE TABLE UPPER_Case (Id INT PRIMARY KEY, CamelCase INT);
INSERT INTO UPPER_Case VALUES (1,1);
CREATE TABLE aria_table (id INT NOT NULL PRIMARY KEY, v VARCHAR(10)) ENGINE=Aria TRANSACTIONAL=1 PAGE_CHECKSUM=1;
CREATE TABLE myisam_table (id INT NOT NULL, v VARCHAR(10), n INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (id, n)) ENGINE=MyISAM MAX_ROWS=1000 CHECKSUM=1;
CREATE TABLE memory_table (id INT NOT NULL PRIMARY KEY, v VARCHAR(10)) ENGINE=MEMORY;
INSERT INTO aria_table VALUES (1,'aria');
INSERT INTO myisam_table (id, v) VALUES (1,'myisam'), (1,'two'), (2,'x');
INSERT INTO memory_table VALUES (1,'memory');
CREATE TABLE parts (id INT NOT NULL, d DATE NOT NULL, PRIMARY KEY (id, d)) ENGINE=InnoDB
  PARTITION BY RANGE (YEAR(d)) (PARTITION p0 VALUES LESS THAN (2000), PARTITION p1 VALUES LESS THAN (2020), PARTITION pmax VALUES LESS THAN MAXVALUE);
INSERT INTO parts VALUES (1,'1999-01-01'), (2,'2010-01-01'), (3,'2030-01-01');
CREATE TABLE hashed (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 3;
INSERT INTO hashed VALUES (1), (2), (3), (4);

-- --------------------------------------------------------------------- views
CREATE VIEW v_simple AS SELECT id, t, tu FROM integers;
CREATE VIEW v_join AS SELECT p.id AS pid, p.code, c.id AS cid FROM parent p JOIN child c ON c.parent_id = p.id;
CREATE VIEW v_left AS SELECT p.id, c.name FROM parent p LEFT JOIN child c ON c.parent_id = p.id AND c.name IS NOT NULL WHERE p.id < 100 ORDER BY p.id DESC;
CREATE VIEW v_group AS SELECT a, COUNT(*) AS n, SUM(b IS NULL) AS nulls, MAX(b) AS most, GROUP_CONCAT(DISTINCT b ORDER BY b DESC SEPARATOR '|') AS g
  FROM no_key GROUP BY a HAVING COUNT(*) >= 1;
CREATE VIEW aa_on_view AS SELECT g.a, g.n, s.id FROM v_group g LEFT JOIN v_simple s ON s.id = g.a;
CREATE VIEW v_check AS SELECT id, a FROM checks WHERE a > 0 OR a IS NULL WITH CHECK OPTION;
CREATE VIEW v_local AS SELECT id FROM v_check WHERE id > 0 WITH LOCAL CHECK OPTION;
CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW v_merge (x, `y y`) AS SELECT id, CONCAT('a''b', v, _latin1'c') FROM aria_table;
CREATE ALGORITHM=TEMPTABLE VIEW v_temp AS SELECT DISTINCT v FROM myisam_table LIMIT 10;
CREATE VIEW v_union AS SELECT 1 AS one, 'x' AS two UNION ALL SELECT id, v FROM aria_table UNION SELECT NULL, NULL;
CREATE VIEW v_sub AS SELECT id, (SELECT COUNT(*) FROM child c WHERE c.parent_id = p.id) AS children FROM parent p WHERE EXISTS (SELECT 1 FROM child) AND id IN (SELECT parent_id FROM child);
CREATE VIEW v_exprs AS SELECT id, CASE WHEN t > 0 THEN 'pos' ELSE 'neg' END AS sign, t + id * 2 AS e1, CAST(t AS CHAR(5)) AS e2, t BETWEEN 1 AND 5 AS e3,
  COALESCE(t, 0) AS e4, DATE_ADD('2020-01-01', INTERVAL id DAY) AS e5, NOT t AS e6, -t AS e7, t IS NULL AS e8, ABS(t) DIV 2 AS e9 FROM integers;
CREATE VIEW v_derived AS SELECT d.n FROM (SELECT COUNT(*) AS n FROM integers) d;
CREATE VIEW v_window AS SELECT id, ROW_NUMBER() OVER (PARTITION BY code ORDER BY id) AS r FROM parent;
CREATE VIEW v_cte AS WITH c AS (SELECT id FROM parent) SELECT id FROM c;
CREATE VIEW `odd view ü` AS SELECT `a column` AS `x y`, `ü``q` FROM `odd ``name`` of a täble ☃; -- x`;
