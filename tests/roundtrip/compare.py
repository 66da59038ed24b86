"""Comparing databases of two servers: rows, dictionary and dump texts. Every difference becomes a line of a report."""

import subprocess

from servers import Failure

# Lines of a dump that tell of the time and the server, not of what is dumped.
VOLATILE_PREFIXES = (b"-- MariaDB dump", b"-- Host:", b"-- Server version", b"-- Dump completed", b"-- CHANGE MASTER TO", b"CHANGE MASTER TO",
                     b"-- SET GLOBAL gtid_slave_pos", b"/*M!999999")
DIFFERENCE_LINES_MAX = 60
LINE_CHARACTERS_MAX = 400


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def unescaped(text):
    """A value as the client's batch mode shows it, with its escapes undone."""
    out, escape = [], False
    for character in text:
        if escape:
            out.append({"n": "\n", "t": "\t", "0": "\0"}.get(character, character))
            escape = False
        elif character == "\\":
            escape = True
        else:
            out.append(character)
    return "".join(out)


def listed(server, query):
    """The rows of a query, each a list of texts."""
    return [[unescaped(v) for v in line.split("\t")] for line in server.sql(query).splitlines()]


def columns_of(server, database):
    """Tables and views of a database with all of their columns, invisible ones too."""
    tables = {}
    for table, column in listed(server, "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS "
                                        f"WHERE TABLE_SCHEMA = '{database}' ORDER BY TABLE_NAME, ORDINAL_POSITION"):
        tables.setdefault(table, []).append(column)
    if not tables:
        raise Failure(f"{server.name} has no tables in {database}: nothing would be compared")
    return tables


def rows_of(server, database, tables):
    """Table -> its rows, in an order of their own."""
    marker = "=-=-= table =-=-="
    script = ["SET time_zone = '+00:00';"]
    for table, columns in tables.items():
        script.append(f"SELECT '{marker}';")
        script.append(f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)};")
    out = server.sql("\n".join(script), database)
    parts = out.split(marker + "\n")[1:]
    if len(parts) != len(tables):
        raise Failure(f"{server.name}: {len(parts)} answers for {len(tables)} tables")
    return {table: sorted(part.splitlines()) for table, part in zip(tables, parts)}


def compare_rows(left, right, database, database_right=None):
    """Every table and view row for row; differences are returned, and the number of rows looked at."""
    database_right = database_right or database
    tables, tables_right = columns_of(left, database), columns_of(right, database_right)
    differences = []
    if tables != tables_right:
        for name in sorted(set(tables) | set(tables_right)):
            if tables.get(name) != tables_right.get(name):
                differences.append(f"columns of {name}: {tables.get(name)} on {left.name}, {tables_right.get(name)} on {right.name}")
        tables = {n: c for n, c in tables.items() if tables_right.get(n) == c}
    rows, rows_right = rows_of(left, database, tables), rows_of(right, database_right, tables)
    for name in tables:
        if rows[name] != rows_right[name]:
            only_left = [r for r in rows[name] if r not in set(rows_right[name])]
            only_right = [r for r in rows_right[name] if r not in set(rows[name])]
            differences.append(f"rows of {name}: {len(rows[name])} on {left.name}, {len(rows_right[name])} on {right.name}")
            differences += [f"  < {r[:LINE_CHARACTERS_MAX]!r}" for r in only_left[:5]]
            differences += [f"  > {r[:LINE_CHARACTERS_MAX]!r}" for r in only_right[:5]]
    return differences, sum(map(len, rows.values()))


DICTIONARY_QUERIES = {
    # Views: MariaDB invents defaults for their columns, and NULLs where it would use a temporary table.
    "columns": "SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, IF(v.t IS NULL, COLUMN_DEFAULT, ''), IF(v.t IS NULL, IS_NULLABLE, ''), DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, "
               "CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_SET_NAME, COLLATION_NAME, "
               "COLUMN_TYPE, COLUMN_KEY, EXTRA, COLUMN_COMMENT, IS_GENERATED, GENERATION_EXPRESSION "
               "FROM information_schema.COLUMNS LEFT JOIN (SELECT TABLE_NAME AS t FROM information_schema.VIEWS WHERE TABLE_SCHEMA = '{db}') v "
               "ON v.t = TABLE_NAME WHERE TABLE_SCHEMA = '{db}' ORDER BY 1, 3",
    "indexes": "SELECT TABLE_NAME, NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, SUB_PART, NULLABLE, INDEX_TYPE, "
               "COMMENT, INDEX_COMMENT, IGNORED FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '{db}' ORDER BY 1, 3, 4",
    "keys": "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME "
            "FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = '{db}' ORDER BY 1, 2, 4",
    "constraints": "SELECT TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS "
                   "WHERE TABLE_SCHEMA = '{db}' ORDER BY 1, 2, 3",
    "checks": "SELECT TABLE_NAME, CONSTRAINT_NAME, LEVEL, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS "
              "WHERE CONSTRAINT_SCHEMA = '{db}' ORDER BY 1, 2",
    "references": "SELECT TABLE_NAME, CONSTRAINT_NAME, UNIQUE_CONSTRAINT_NAME, UPDATE_RULE, DELETE_RULE, REFERENCED_TABLE_NAME "
                  "FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = '{db}' ORDER BY 1, 2",
    "tables": "SELECT TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COLLATION, TABLE_COMMENT "
              "FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{db}' ORDER BY 1",
    # The text is compared in dumps; here Selkie leaves the view's own database out of it (COMPAT.md).
    "views": "SELECT TABLE_NAME, CHECK_OPTION, DEFINER, SECURITY_TYPE, ALGORITHM "
             "FROM information_schema.VIEWS WHERE TABLE_SCHEMA = '{db}' ORDER BY 1",
}


def compare_dictionary(left, right, database):
    """What information_schema tells of a database."""
    differences = []
    for subject, query in DICTIONARY_QUERIES.items():
        rows, rows_right = (s.sql(query.format(db=database)).splitlines() for s in (left, right))
        if rows != rows_right:
            differences.append(f"information_schema, {subject}:")
            differences += [f"  < {r[:LINE_CHARACTERS_MAX]}" for r in rows if r not in rows_right][:20]
            differences += [f"  > {r[:LINE_CHARACTERS_MAX]}" for r in rows_right if r not in rows][:20]
    return differences


def steady(path):
    """A dump without its volatile lines, in a file beside it."""
    out_path = f"{path}.steady"
    with open(path, "rb") as dump, open(out_path, "wb") as out:
        for line in dump:
            if not line.startswith(VOLATILE_PREFIXES):
                out.write(line)
    return out_path


def compare_texts(left_path, right_path):
    """Two dumps line by line."""
    done = subprocess.run(["diff", "--text", "-U1", steady(left_path), steady(right_path)], stdout=subprocess.PIPE, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()[2:]
    shown = [line[:LINE_CHARACTERS_MAX] for line in lines[:DIFFERENCE_LINES_MAX]]
    if len(lines) > len(shown):
        shown.append(f"... and {len(lines) - len(shown)} lines more")
    return shown
