//! Row images: the values of rows as they stand in rows events.
//!
//! An image is a bitmap of NULLs (one bit for each column that is present, unused bits set) and the
//! values of the other columns one behind the other. How a value is laid out follows from its column's
//! type and metadata in the Table_map, which [`RowColumn`] holds together with what the Table_map
//! does not tell: sign, character set, fraction of old temporal types.
//!
//! Text is converted here between the column's declared character set and the UTF-8 that a [`Value`](selkie_types::Value)(selkie_types::Value)
//! has; TIMESTAMP values are UTC on both sides.

mod column;
mod decode;
mod encode;
mod table;
mod temporal;
mod values;

#[cfg(test)]
mod tests;

pub use column::{RowColumn, columns_of, table_map_columns};
pub use encode::{EncodeError, put_image};
pub use table::{ColumnDescription, RowMetadata, TableDescription};
pub use values::{Image, RowChange, RowReader};
