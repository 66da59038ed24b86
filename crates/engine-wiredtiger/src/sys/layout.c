/*
 * Compiles only if src/sys/mod.rs describes the wiredtiger.h that the library was built with. Nothing in here is ever
 * called.
 */
#include <stddef.h>

#include "wiredtiger.h"

#define AT(type, field, offset) \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")
#define IS(name, value) _Static_assert((name) == (value), #name " has another value")

AT(WT_ITEM, data, 0);
AT(WT_ITEM, size, 8);
_Static_assert(sizeof(WT_ITEM) == 40, "WT_ITEM has another size");

AT(WT_CURSOR, get_key, 32 + 8 * 0);
AT(WT_CURSOR, get_value, 32 + 8 * 1);
AT(WT_CURSOR, get_raw_key_value, 32 + 8 * 2);
AT(WT_CURSOR, set_key, 32 + 8 * 3);
AT(WT_CURSOR, set_value, 32 + 8 * 4);
AT(WT_CURSOR, next, 32 + 8 * 7);
AT(WT_CURSOR, prev, 32 + 8 * 8);
AT(WT_CURSOR, reset, 32 + 8 * 9);
AT(WT_CURSOR, search, 32 + 8 * 10);
AT(WT_CURSOR, search_near, 32 + 8 * 11);
AT(WT_CURSOR, insert, 32 + 8 * 12);
AT(WT_CURSOR, remove, 32 + 8 * 15);
AT(WT_CURSOR, close, 32 + 8 * 18);

AT(WT_SESSION, close, 16 + 8 * 0);
AT(WT_SESSION, strerror, 16 + 8 * 2);
AT(WT_SESSION, open_cursor, 16 + 8 * 3);
AT(WT_SESSION, create, 16 + 8 * 6);
AT(WT_SESSION, drop, 16 + 8 * 8);
AT(WT_SESSION, verify, 16 + 8 * 16);
AT(WT_SESSION, begin_transaction, 16 + 8 * 17);
AT(WT_SESSION, commit_transaction, 16 + 8 * 18);
AT(WT_SESSION, rollback_transaction, 16 + 8 * 20);
AT(WT_SESSION, timestamp_transaction_uint, 16 + 8 * 23);
AT(WT_SESSION, checkpoint, 16 + 8 * 24);
AT(WT_SESSION, get_rollback_reason, 16 + 8 * 27);

AT(WT_CONNECTION, close, 8 * 0);
AT(WT_CONNECTION, open_session, 8 * 7);
AT(WT_CONNECTION, query_timestamp, 8 * 8);
AT(WT_CONNECTION, set_timestamp, 8 * 9);

AT(WT_EVENT_HANDLER, handle_error, 0);
AT(WT_EVENT_HANDLER, handle_message, 8);
AT(WT_EVENT_HANDLER, handle_progress, 16);
AT(WT_EVENT_HANDLER, handle_close, 24);
AT(WT_EVENT_HANDLER, handle_general, 32);
_Static_assert(sizeof(WT_EVENT_HANDLER) == 40, "WT_EVENT_HANDLER has another size");

IS(WT_TS_TXN_TYPE_COMMIT, 0);
IS(WT_TS_TXN_TYPE_READ, 3);

IS(WT_ROLLBACK, -31800);
IS(WT_NOTFOUND, -31803);
IS(WT_PANIC, -31804);
IS(WT_RUN_RECOVERY, -31806);
IS(WT_CACHE_FULL, -31807);
IS(WT_TRY_SALVAGE, -31809);

IS(WT_STAT_CONN_BLOCK_BYTE_READ, 1057);
IS(WT_STAT_CONN_BLOCK_BYTE_WRITE, 1060);
IS(WT_STAT_CONN_CACHE_BYTES_UPDATES, 1074);
IS(WT_STAT_CONN_CACHE_BYTES_INUSE, 1077);
IS(WT_STAT_CONN_CACHE_BYTES_MAX, 1185);
IS(WT_STAT_CONN_CACHE_READ, 1209);
IS(WT_STAT_CONN_CACHE_PAGES_REQUESTED, 1214);
IS(WT_STAT_CONN_CACHE_WRITE, 1223);
IS(WT_STAT_CONN_CACHE_BYTES_DIRTY, 1234);
IS(WT_STAT_CONN_CHECKPOINT_TIME_RECENT, 1276);
IS(WT_STAT_CONN_CHECKPOINTS_TOTAL_SUCCEED, 1306);
IS(WT_STAT_CONN_FILE_OPEN, 1336);
IS(WT_STAT_CONN_CURSOR_OPEN_COUNT, 1425);
IS(WT_STAT_CONN_SESSION_OPEN, 1601);
IS(WT_STAT_CONN_APPLICATION_CACHE_TIME, 1641);
IS(WT_STAT_CONN_TXN_COMMIT, 1709);
IS(WT_STAT_CONN_TXN_ROLLBACK, 1710);
IS(WT_STAT_CONN_TXN_UPDATE_CONFLICT, 1711);
IS(WT_STAT_DSRC_BLOCK_REUSE_BYTES, 2021);
IS(WT_STAT_DSRC_BLOCK_SIZE, 2024);
IS(WT_STAT_DSRC_CACHE_BYTES_DIRTY, 2118);
