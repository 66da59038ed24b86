#!/bin/sh
# Asks a private MariaDB 10.11 for the facts that the files here hold: names, types and orders.
# Usage: capture.sh SOCKET
set -eu
cd "$(dirname "$0")"
ask() { mariadb --no-defaults -N -B -S "$SOCKET" -e "$1"; }
SOCKET=$1

# columns.tsv: db.table lines, each followed by its columns: name, type, Y/N nullable, default (- none), collation (- the usual), key if any.
ask "select concat(if(ordinal_position=1, concat('@', table_schema, '.', table_name, '\n'), ''),
  concat_ws('\t', column_name, replace(column_type, '\\\\n', ' '), left(is_nullable,1), ifnull(column_default,'-'),
    if(collation_name is null or collation_name='utf8mb3_general_ci','-',collation_name), nullif(column_key,'')))
  from information_schema.columns where table_schema in ('information_schema','performance_schema','mysql')
  order by field(table_schema,'information_schema','mysql','performance_schema'), table_name, ordinal_position" |
  sed -e 's/\\n/\n/g' -e 's/\\t/\t/g' | sed -e 's/set(.REAL_AS_FLOAT.*TIME_ROUND_FRACTIONAL.)/set($SQL_MODES)/' > columns.tsv

# status.tsv: names in the order of SHOW STATUS with the value that stands where this server has nothing to count.
ask "show global status" | awk -F'\t' '{ v = $2; if (v ~ /^[0-9]+$/) v = "0"; else if (v ~ /^[0-9]+\.[0-9]+$/) { sub(/^[0-9]+/, "0", v); gsub(/[0-9]/, "0", v) }
  else if (v != "OFF" && v != "NONE" && v != "Disconnected") v = ""; print $1 "\t" v }' > status.tsv

# keywords.txt and functions.txt: information_schema.KEYWORDS and SQL_FUNCTIONS.
ask "select word from information_schema.keywords" > keywords.txt
ask "select function from information_schema.sql_functions" > functions.txt

# privileges.tsv: SHOW PRIVILEGES without its comments.
ask "show privileges" | cut -f1,2 > privileges.tsv
