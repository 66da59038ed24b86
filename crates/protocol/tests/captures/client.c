/* Drives MariaDB Connector/C through what the command-line tools do not send: prepared statements
   with many types, long data, cursors, bulk execution, pipelined prepare and execute, and the small
   commands. record.py compiles and runs it: client PORT SCENARIO. */
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int failed, const char *what, const char *error) {
  if (failed) {
    fprintf(stderr, "%s: %s\n", what, error);
    exit(1);
  }
}

static MYSQL *connect_as(unsigned port, const char *user, const char *password, unsigned long flags) {
  MYSQL *mysql = mysql_init(NULL);
  if (!mysql_real_connect(mysql, "127.0.0.1", user, password, "capture", port, NULL, flags))
    check(1, "connect", mysql_error(mysql));
  return mysql;
}

static void query(MYSQL *mysql, const char *sql) {
  check(mysql_query(mysql, sql), sql, mysql_error(mysql));
  do {
    MYSQL_RES *result = mysql_store_result(mysql);
    if (result) mysql_free_result(result);
  } while (mysql_next_result(mysql) == 0);
}

static MYSQL_STMT *prepare(MYSQL *mysql, const char *sql) {
  MYSQL_STMT *stmt = mysql_stmt_init(mysql);
  check(mysql_stmt_prepare(stmt, sql, -1), sql, mysql_stmt_error(stmt));
  return stmt;
}

static void drain(MYSQL_STMT *stmt) {
  int rc;
  check(mysql_stmt_execute(stmt), "execute", mysql_stmt_error(stmt));
  while ((rc = mysql_stmt_fetch(stmt)) == 0 || rc == MYSQL_DATA_TRUNCATED) {}
  check(rc == 1, "fetch", mysql_stmt_error(stmt));
}

static void bind(MYSQL_BIND *bind, enum enum_field_types type, void *value, unsigned long length,
                 my_bool is_unsigned) {
  memset(bind, 0, sizeof *bind);
  bind->buffer_type = type;
  bind->buffer = value;
  bind->buffer_length = length;
  bind->is_unsigned = is_unsigned;
}

static void types(unsigned port) {
  MYSQL *mysql = connect_as(port, "app", "secret", 0);
  MYSQL_STMT *stmt = prepare(mysql, "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?");
  signed char tiny = -5;
  unsigned char utiny = 250;
  short small = -300;
  int medium = -70000;
  unsigned int big = 4000000000u;
  long long huge = -5000000000LL;
  unsigned long long uhuge = 18446744073709551615ULL;
  float single = 1.5f;
  double dbl = -0.1;
  MYSQL_TIME date = {2024, 2, 29, 0, 0, 0, 0, 0, MYSQL_TIMESTAMP_DATE};
  MYSQL_TIME stamp = {2024, 2, 29, 13, 14, 15, 123456, 0, MYSQL_TIMESTAMP_DATETIME};
  MYSQL_TIME span = {0, 0, 2, 23, 59, 58, 0, 1, MYSQL_TIMESTAMP_TIME};
  MYSQL_BIND params[14];
  bind(&params[0], MYSQL_TYPE_TINY, &tiny, 0, 0);
  bind(&params[1], MYSQL_TYPE_TINY, &utiny, 0, 1);
  bind(&params[2], MYSQL_TYPE_SHORT, &small, 0, 0);
  bind(&params[3], MYSQL_TYPE_LONG, &medium, 0, 0);
  bind(&params[4], MYSQL_TYPE_LONG, &big, 0, 1);
  bind(&params[5], MYSQL_TYPE_LONGLONG, &huge, 0, 0);
  bind(&params[6], MYSQL_TYPE_LONGLONG, &uhuge, 0, 1);
  bind(&params[7], MYSQL_TYPE_FLOAT, &single, 0, 0);
  bind(&params[8], MYSQL_TYPE_DOUBLE, &dbl, 0, 0);
  bind(&params[9], MYSQL_TYPE_NEWDECIMAL, "12.3400", 7, 0);
  bind(&params[10], MYSQL_TYPE_DATE, &date, 0, 0);
  bind(&params[11], MYSQL_TYPE_DATETIME, &stamp, 0, 0);
  bind(&params[12], MYSQL_TYPE_TIME, &span, 0, 0);
  bind(&params[13], MYSQL_TYPE_NULL, NULL, 0, 0);
  check(mysql_stmt_bind_param(stmt, params), "bind", mysql_stmt_error(stmt));
  drain(stmt);
  drain(stmt); /* the same types: they are not sent again */
  mysql_stmt_close(stmt);
  stmt = prepare(mysql, "SELECT * FROM everything ORDER BY id");
  drain(stmt);
  check(mysql_stmt_reset(stmt), "reset", mysql_stmt_error(stmt));
  mysql_stmt_close(stmt);
  stmt = prepare(mysql, "SELECT n FROM numbers WHERE n > ? LIMIT 2");
  int from = 1;
  bind(&params[0], MYSQL_TYPE_LONG, &from, 0, 0);
  check(mysql_stmt_bind_param(stmt, params), "bind", mysql_stmt_error(stmt));
  drain(stmt);
  query(mysql, "ALTER TABLE numbers MODIFY n BIGINT NOT NULL");
  drain(stmt); /* other columns now */
  query(mysql, "ALTER TABLE numbers MODIFY n INT NOT NULL");
  mysql_stmt_close(stmt);
  mysql_close(mysql);
}

static void longdata(unsigned port) {
  MYSQL *mysql = connect_as(port, "app", "secret", 0);
  MYSQL_STMT *stmt = prepare(mysql, "SELECT LENGTH(?), ?, MD5(?)");
  MYSQL_BIND params[3];
  int number = 7;
  bind(&params[0], MYSQL_TYPE_BLOB, NULL, 0, 0);
  bind(&params[1], MYSQL_TYPE_LONG, &number, 0, 0);
  bind(&params[2], MYSQL_TYPE_STRING, NULL, 0, 0);
  check(mysql_stmt_bind_param(stmt, params), "bind", mysql_stmt_error(stmt));
  check(mysql_stmt_send_long_data(stmt, 0, "first,", 6), "long data", mysql_stmt_error(stmt));
  check(mysql_stmt_send_long_data(stmt, 0, "second", 6), "long data", mysql_stmt_error(stmt));
  check(mysql_stmt_send_long_data(stmt, 2, "third", 5), "long data", mysql_stmt_error(stmt));
  drain(stmt);
  mysql_stmt_close(stmt);
  mysql_close(mysql);
}

static void cursor(unsigned port) {
  MYSQL *mysql = connect_as(port, "app", "secret", 0);
  MYSQL_STMT *stmt = mysql_stmt_init(mysql);
  unsigned long cursor_type = CURSOR_TYPE_READ_ONLY, rows = 2;
  mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &cursor_type);
  mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows);
  const char *sql = "SELECT n, name FROM numbers ORDER BY n";
  check(mysql_stmt_prepare(stmt, sql, -1), sql, mysql_stmt_error(stmt));
  drain(stmt);
  check(mysql_stmt_reset(stmt), "reset", mysql_stmt_error(stmt));
  mysql_stmt_close(stmt);
  mysql_close(mysql);
}

static void bulk(unsigned port) {
  MYSQL *mysql = connect_as(port, "app", "secret", 0);
  MYSQL_STMT *stmt = prepare(mysql, "INSERT INTO bulk VALUES (?, ?)");
  int numbers[3] = {1, 2, 3};
  char *names[3] = {"one", "two", "three"};
  unsigned long lengths[3] = {3, 3, 5};
  char number_is[3] = {STMT_INDICATOR_NONE, STMT_INDICATOR_NONE, STMT_INDICATOR_DEFAULT};
  char name_is[3] = {STMT_INDICATOR_NONE, STMT_INDICATOR_NULL, STMT_INDICATOR_NONE};
  unsigned int array_size = 3;
  MYSQL_BIND params[2];
  bind(&params[0], MYSQL_TYPE_LONG, numbers, 0, 0);
  params[0].u.indicator = number_is;
  bind(&params[1], MYSQL_TYPE_STRING, names, 0, 0);
  params[1].length = lengths;
  params[1].u.indicator = name_is;
  mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &array_size);
  check(mysql_stmt_bind_param(stmt, params), "bind", mysql_stmt_error(stmt));
  check(mysql_stmt_execute(stmt), "bulk execute", mysql_stmt_error(stmt));
  mysql_stmt_close(stmt);

  /* Prepare and execute in one go: the statement's id is -1. */
  unsigned int param_count = 1;
  int number = 41;
  stmt = mysql_stmt_init(mysql);
  mysql_stmt_attr_set(stmt, STMT_ATTR_PREBIND_PARAMS, &param_count);
  bind(&params[0], MYSQL_TYPE_LONG, &number, 0, 0);
  check(mysql_stmt_bind_param(stmt, params), "bind", mysql_stmt_error(stmt));
  check(mariadb_stmt_execute_direct(stmt, "SELECT ? + 1", -1), "direct", mysql_stmt_error(stmt));
  while (mysql_stmt_fetch(stmt) == 0) {}
  mysql_stmt_close(stmt);
  mysql_close(mysql);
}

static void commands(unsigned port) {
  MYSQL *mysql = connect_as(port, "app", "secret", CLIENT_MULTI_STATEMENTS);
  MYSQL_RES *result;
  check(mysql_ping(mysql), "ping", mysql_error(mysql));
  check(mysql_select_db(mysql, "capture"), "init db", mysql_error(mysql));
  check(mysql_select_db(mysql, "no_such_db") == 0, "init db", "succeeded");
  check(mysql_stat(mysql) == NULL, "statistics", mysql_error(mysql));
  result = mysql_list_fields(mysql, "everything", NULL);
  check(result == NULL, "field list", mysql_error(mysql));
  mysql_free_result(result);
  result = mysql_list_fields(mysql, "everything", "c_t%");
  mysql_free_result(result);
  result = mysql_list_processes(mysql);
  check(result == NULL, "process info", mysql_error(mysql));
  mysql_free_result(result);
  check(mysql_refresh(mysql, REFRESH_TABLES), "refresh", mysql_error(mysql));
  check(mysql_dump_debug_info(mysql), "debug", mysql_error(mysql));
  check(mysql_kill(mysql, 999999) == 0, "kill", "succeeded");
  check(mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_OFF), "option", mysql_error(mysql));
  check(mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_ON), "option", mysql_error(mysql));
  query(mysql, "SET session_track_system_variables='autocommit,last_gtid', session_track_schema=1,"
               "session_track_state_change=1, session_track_transaction_info='CHARACTERISTICS'");
  query(mysql, "SET autocommit=0; USE capture; START TRANSACTION READ WRITE; "
               "INSERT INTO bulk VALUES (9, 'nine'); COMMIT; SET autocommit=1; SELECT 1; DO 1");
  query(mysql, "CALL two_results()");
  check(mysql_change_user(mysql, "other", "different", "capture"), "change user", mysql_error(mysql));
  check(mysql_change_user(mysql, "app", "secret", NULL), "change user", mysql_error(mysql));
  check(mysql_reset_connection(mysql), "reset connection", mysql_error(mysql));
  mysql_close(mysql);
}

/* The client's half of the plugin `dialog` calls this for every question. */
char *mysql_authentication_dialog_ask(MYSQL *mysql, int type, const char *prompt, char *buffer, int length) {
  (void)mysql, (void)type, (void)prompt;
  snprintf(buffer, length, "yes, of course");
  return buffer;
}

int main(int argc, char **argv) {
  check(argc != 3, "usage", "client PORT SCENARIO");
  unsigned port = atoi(argv[1]);
  const char *scenario = argv[2];
  if (!strcmp(scenario, "types")) types(port);
  else if (!strcmp(scenario, "longdata")) longdata(port);
  else if (!strcmp(scenario, "cursor")) cursor(port);
  else if (!strcmp(scenario, "bulk")) bulk(port);
  else if (!strcmp(scenario, "commands")) commands(port);
  else if (!strcmp(scenario, "dialog")) mysql_close(connect_as(port, "asked", "secret", 0));
  else check(1, scenario, "unknown scenario");
  return 0;
}
