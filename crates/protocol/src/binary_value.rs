//! Values in their binary form: the parameters of prepared statements, and the columns of binary
//! rows as a client reads them.

use crate::column_type::ColumnType;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};
use crate::temporal::{Date, DateTime, Time};

/// A value, borrowed from its packet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamValue<'a> {
    /// NULL.
    Null,
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    UInt(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// Text (in the connection's character_set_client), blobs, decimals as text, bits.
    Bytes(&'a [u8]),
    /// DATE.
    Date(Date),
    /// DATETIME or TIMESTAMP.
    DateTime(DateTime),
    /// TIME.
    Time(Time),
    /// Came before by COM_STMT_SEND_LONG_DATA; the packet has no value.
    LongData,
}

/// The type of a parameter as a client binds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamType {
    /// The type.
    pub column_type: ColumnType,
    /// Whether an integer is unsigned.
    pub unsigned: bool,
}

/// The bit that marks unsigned integers in the second byte of a parameter's type.
const UNSIGNED: u8 = 0x80;

impl ParamType {
    /// A signed integer, or a type that has no sign.
    pub const fn signed(column_type: ColumnType) -> Self {
        Self {
            column_type,
            unsigned: false,
        }
    }

    /// An unsigned integer.
    pub const fn unsigned(column_type: ColumnType) -> Self {
        Self {
            column_type,
            unsigned: true,
        }
    }

    pub(crate) fn put(self, out: &mut SendBuffer) {
        out.put_u8(self.column_type.code());
        out.put_u8(if self.unsigned { UNSIGNED } else { 0 });
    }

    pub(crate) fn take(fields: &mut Payload<'_>) -> Result<Self, DecodeError> {
        let [code, flags] = fields.array("type of a parameter")?;
        Ok(Self {
            column_type: code.try_into()?,
            unsigned: flags & UNSIGNED != 0,
        })
    }

    /// Reads `count` types into `types`, which then holds only them. On error it holds what it held.
    pub(crate) fn take_list(
        fields: &mut Payload<'_>,
        count: usize,
        types: &mut Vec<Self>,
    ) -> Result<(), DecodeError> {
        let mut list = Payload::new(fields.bytes(count * 2, "types of parameters")?);
        let mut check = list;
        while !check.is_empty() {
            Self::take(&mut check)?;
        }
        types.clear();
        types.reserve(count);
        while !list.is_empty() {
            types.push(Self::take(&mut list)?);
        }
        Ok(())
    }
}

impl<'a> ParamValue<'a> {
    /// Reads a value that is not NULL.
    pub(crate) fn take(
        fields: &mut Payload<'a>,
        ParamType {
            column_type,
            unsigned,
        }: ParamType,
    ) -> Result<Self, DecodeError> {
        use ColumnType as T;
        Ok(match column_type {
            T::Null => Self::Null,
            T::Tiny => {
                let value = fields.u8("1-byte integer")?;
                if unsigned {
                    Self::UInt(value.into())
                } else {
                    Self::Int((value as i8).into())
                }
            }
            T::Short | T::Year => {
                let value = fields.u16("2-byte integer")?;
                if unsigned {
                    Self::UInt(value.into())
                } else {
                    Self::Int((value as i16).into())
                }
            }
            T::Long | T::Int24 => {
                let value = fields.u32("4-byte integer")?;
                if unsigned {
                    Self::UInt(value.into())
                } else {
                    Self::Int((value as i32).into())
                }
            }
            T::LongLong => {
                let value = fields.u64("8-byte integer")?;
                if unsigned {
                    Self::UInt(value)
                } else {
                    Self::Int(value as i64)
                }
            }
            T::Float => Self::Float(f32::from_bits(fields.u32("float")?)),
            T::Double => Self::Double(f64::from_bits(fields.u64("double")?)),
            T::Date | T::NewDate => Self::Date(DateTime::take(fields)?.date),
            T::DateTime | T::DateTime2 | T::Timestamp | T::Timestamp2 => {
                Self::DateTime(DateTime::take(fields)?)
            }
            T::Time | T::Time2 => Self::Time(Time::take(fields)?),
            T::Decimal
            | T::VarChar
            | T::Bit
            | T::BlobCompressed
            | T::VarCharCompressed
            | T::Json
            | T::NewDecimal
            | T::Enum
            | T::Set
            | T::TinyBlob
            | T::MediumBlob
            | T::LongBlob
            | T::Blob
            | T::VarString
            | T::String
            | T::Geometry => Self::Bytes(fields.lenenc_bytes("string")?),
        })
    }

    /// Writes the value in the form of `column_type`. Integers are cut to its width; NULL and long
    /// data write nothing.
    pub(crate) fn put(&self, out: &mut SendBuffer, column_type: ColumnType) {
        match *self {
            Self::Null | Self::LongData => {}
            Self::Int(value) => put_int(out, column_type, value as u64),
            Self::UInt(value) => put_int(out, column_type, value),
            Self::Float(value) => out.put_f32(value),
            Self::Double(value) => out.put_f64(value),
            Self::Bytes(bytes) => out.put_lenenc_bytes(bytes),
            Self::Date(date) => DateTime::from(date).put(out),
            Self::DateTime(value) => value.put(out),
            Self::Time(value) => value.put(out),
        }
    }
}

/// Writes the lower bytes of an integer, as many as `column_type` has; eight for other types.
#[inline]
pub(crate) fn put_int(out: &mut SendBuffer, column_type: ColumnType, value: u64) {
    match column_type {
        ColumnType::Tiny => out.put_u8(value as u8),
        ColumnType::Short | ColumnType::Year => out.put_u16(value as u16),
        ColumnType::Long | ColumnType::Int24 => out.put_u32(value as u32),
        _ => out.put_u64(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(value: ParamValue<'_>, param_type: ParamType) {
        let mut out = SendBuffer::new();
        value.put(&mut out, param_type.column_type);
        let mut fields = Payload::new(out.pending());
        assert_eq!(ParamValue::take(&mut fields, param_type), Ok(value));
        assert!(fields.is_empty());
    }

    #[test]
    fn integers_keep_their_sign() {
        for column_type in [
            ColumnType::Tiny,
            ColumnType::Short,
            ColumnType::Int24,
            ColumnType::LongLong,
        ] {
            there_and_back(ParamValue::Int(-1), ParamType::signed(column_type));
            there_and_back(ParamValue::UInt(255), ParamType::unsigned(column_type));
        }
        there_and_back(
            ParamValue::UInt(u64::MAX),
            ParamType::unsigned(ColumnType::LongLong),
        );
    }

    #[test]
    fn other_values() {
        there_and_back(ParamValue::Float(1.5), ParamType::signed(ColumnType::Float));
        there_and_back(
            ParamValue::Double(-0.1),
            ParamType::signed(ColumnType::Double),
        );
        there_and_back(
            ParamValue::Bytes(b"12.30"),
            ParamType::signed(ColumnType::NewDecimal),
        );
        let date = Date {
            year: 2024,
            month: 1,
            day: 2,
        };
        there_and_back(ParamValue::Date(date), ParamType::signed(ColumnType::Date));
        let at = DateTime {
            date,
            hour: 3,
            minute: 4,
            second: 5,
            micros: 6,
        };
        there_and_back(
            ParamValue::DateTime(at),
            ParamType::signed(ColumnType::Timestamp),
        );
        let time = Time {
            negative: true,
            days: 1,
            hours: 2,
            ..Time::default()
        };
        there_and_back(ParamValue::Time(time), ParamType::signed(ColumnType::Time));
    }

    #[test]
    fn bad_types_leave_the_remembered_ones() {
        let mut types = vec![ParamType::signed(ColumnType::Long)];
        let bad = [8, 0, 99, 0];
        let result = ParamType::take_list(&mut Payload::new(&bad), 2, &mut types);
        assert_eq!(result, Err(DecodeError::UnknownColumnType(99)));
        assert_eq!(types, [ParamType::signed(ColumnType::Long)]);
    }
}
