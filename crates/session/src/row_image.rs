//! Rows of a table as the log wants them: its Table_map, and row images with TIMESTAMP in UTC.

use std::borrow::Cow;

use selkie_binlog::event::{TableMap, table_map_flags};
use selkie_binlog::row::{RowColumn, columns_of, put_image};
use selkie_catalog::Table;
use selkie_types::{SqlResult, SqlType, TimeZone, Value, sql_err};

/// What encoding rows of a table needs, made once for each table and transaction.
pub struct TableImage {
    /// The Table_map event.
    pub map: TableMap,
    columns: Vec<RowColumn>,
    timestamps: Vec<usize>,
}

impl TableImage {
    /// For a table's present definition.
    pub fn new(table: &Table) -> TableImage {
        let columns = columns_of(table.columns.iter().map(|c| &c.ty));
        let mut nullable = vec![0u8; columns.len().div_ceil(8)];
        for (i, c) in table.columns.iter().enumerate() {
            if c.nullable {
                nullable[i / 8] |= 1 << (i % 8);
            }
        }
        let map = TableMap {
            table_id: table.id,
            flags: table_map_flags::BIT_LEN_EXACT,
            database: table.db.clone(),
            table: table.name.clone(),
            columns: columns.iter().map(|c| c.meta).collect(),
            nullable: nullable.into(),
            optional_metadata: Default::default(),
        };
        let is_timestamp = |c: &selkie_catalog::Column| matches!(c.ty, SqlType::Timestamp { .. });
        let timestamps = (0..table.columns.len()).filter(|&i| is_timestamp(&table.columns[i])).collect();
        TableImage { map, columns, timestamps }
    }

    /// Appends the full image of a row whose TIMESTAMPs are in the zone `tz`.
    pub fn encode(&self, row: &[Value], tz: &TimeZone, out: &mut Vec<u8>) -> SqlResult<()> {
        let row = self.to_utc(row, tz);
        put_image(out, &self.columns, &row).map_err(|e| sql_err!(ER_BINLOG_LOGGING_IMPOSSIBLE, e))
    }

    fn to_utc<'a>(&self, row: &'a [Value], tz: &TimeZone) -> Cow<'a, [Value]> {
        if self.timestamps.is_empty() || *tz == TimeZone::Offset(0) {
            return Cow::Borrowed(row);
        }
        let mut row = row.to_vec();
        for &i in &self.timestamps {
            if let Value::DateTime(local) = row[i]
                && let Some(utc) = tz.to_utc(local)
            {
                row[i] = Value::DateTime(TimeZone::Offset(0).to_local(utc));
            }
        }
        Cow::Owned(row)
    }
}
