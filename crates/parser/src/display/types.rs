//! Types as text.

use super::{Printer, charset_name};
use crate::ast::{CastType, CharsetClause, DataType, GeometryKind, IntSize, LobSize, NumericAttrs};

impl Printer {
    fn length(&mut self, length: Option<u64>) {
        if let Some(length) = length {
            self.push("(");
            self.number(length);
            self.push(")");
        }
    }

    fn precision(&mut self, precision: Option<u64>, scale: Option<u64>) {
        let Some(precision) = precision else { return };
        self.push("(");
        self.number(precision);
        if let Some(scale) = scale {
            self.push(",");
            self.number(scale);
        }
        self.push(")");
    }

    fn numeric_attrs(&mut self, attrs: NumericAttrs) {
        if attrs.unsigned {
            self.push(" unsigned");
        }
        if attrs.zerofill {
            self.push(" zerofill");
        }
    }

    fn charset_clause(&mut self, clause: &CharsetClause) {
        if let Some(charset) = &clause.charset {
            self.push(" CHARACTER SET ");
            self.push(&charset_name(charset));
        }
        if clause.binary {
            self.push(" BINARY");
        }
        if let Some(collation) = &clause.collation {
            self.push(" COLLATE ");
            self.push(&collation.to_ascii_lowercase());
        }
    }

    fn values(&mut self, values: &[Vec<u8>]) {
        self.push("(");
        self.list(values, ",", |p, value| p.bytes(value));
        self.push(")");
    }

    pub(super) fn data_type(&mut self, ty: &DataType) {
        match ty {
            DataType::Int { size, width, attrs } => {
                self.push(match size {
                    IntSize::Tiny => "tinyint",
                    IntSize::Small => "smallint",
                    IntSize::Medium => "mediumint",
                    IntSize::Int => "int",
                    IntSize::Big => "bigint",
                });
                self.length(*width);
                self.numeric_attrs(*attrs);
            }
            DataType::Decimal {
                precision,
                scale,
                attrs,
            } => {
                self.push("decimal");
                self.precision(*precision, *scale);
                self.numeric_attrs(*attrs);
            }
            DataType::Float {
                precision,
                scale,
                attrs,
            } => {
                self.push("float");
                self.precision(*precision, *scale);
                self.numeric_attrs(*attrs);
            }
            DataType::Double {
                precision,
                scale,
                attrs,
            } => {
                self.push("double");
                self.precision(*precision, *scale);
                self.numeric_attrs(*attrs);
            }
            DataType::Bit(length) => {
                self.push("bit");
                self.length(*length);
            }
            DataType::Serial => self.push("serial"),
            DataType::Date => self.push("date"),
            DataType::Time(digits) => {
                self.push("time");
                self.length(*digits);
            }
            DataType::DateTime(digits) => {
                self.push("datetime");
                self.length(*digits);
            }
            DataType::Timestamp(digits) => {
                self.push("timestamp");
                self.length(*digits);
            }
            DataType::Year(width) => {
                self.push("year");
                self.length(*width);
            }
            DataType::Char { length, charset } => {
                self.push("char");
                self.length(*length);
                self.charset_clause(charset);
            }
            DataType::VarChar { length, charset } => {
                self.push("varchar");
                self.length(Some(*length));
                self.charset_clause(charset);
            }
            DataType::Binary(length) => {
                self.push("binary");
                self.length(*length);
            }
            DataType::VarBinary(length) => {
                self.push("varbinary");
                self.length(Some(*length));
            }
            DataType::Text {
                size,
                length,
                charset,
            } => {
                self.push(lob_prefix(*size));
                self.push("text");
                self.length(*length);
                self.charset_clause(charset);
            }
            DataType::Blob { size, length } => {
                self.push(lob_prefix(*size));
                self.push("blob");
                self.length(*length);
            }
            DataType::Enum { values, charset } => {
                self.push("enum");
                self.values(values);
                self.charset_clause(charset);
            }
            DataType::Set { values, charset } => {
                self.push("set");
                self.values(values);
                self.charset_clause(charset);
            }
            DataType::Json { charset } => {
                self.push("json");
                self.charset_clause(charset);
            }
            DataType::Uuid => self.push("uuid"),
            DataType::Inet4 => self.push("inet4"),
            DataType::Inet6 => self.push("inet6"),
            DataType::Geometry { kind, srid } => {
                self.push(geometry(*kind));
                if let Some(srid) = srid {
                    self.push(" REF_SYSTEM_ID=");
                    self.number(srid);
                }
            }
            DataType::Named(name) => self.push(&name.to_ascii_lowercase()),
        }
    }

    pub(super) fn cast_type(&mut self, ty: &CastType) {
        match ty {
            CastType::Binary(length) => {
                self.push("char");
                self.length(*length);
                self.push(" charset binary");
            }
            CastType::Char { length, charset } => {
                self.push("char");
                self.length(*length);
                if let Some(charset) = &charset.charset {
                    self.push(" charset ");
                    self.push(&charset_name(charset));
                }
                if charset.binary {
                    self.push(" binary");
                }
                if let Some(collation) = &charset.collation {
                    self.push(" collate ");
                    self.push(&collation.to_ascii_lowercase());
                }
            }
            CastType::Signed => self.push("signed"),
            CastType::Unsigned => self.push("unsigned"),
            CastType::Date => self.push("date"),
            CastType::Time(digits) => {
                self.push("time");
                self.length(*digits);
            }
            CastType::DateTime(digits) => {
                self.push("datetime");
                self.length(*digits);
            }
            CastType::Decimal { precision, scale } => {
                self.push("decimal");
                self.precision(Some(precision.unwrap_or(10)), Some(scale.unwrap_or(0)));
            }
            CastType::Float => self.push("float"),
            CastType::Double { precision, scale } => {
                self.push("double");
                self.precision(*precision, *scale);
            }
            CastType::IntervalDaySecond(digits) => {
                self.push("interval day_second");
                self.length(*digits);
            }
            CastType::Uuid => self.push("uuid"),
            CastType::Inet4 => self.push("inet4"),
            CastType::Inet6 => self.push("inet6"),
            CastType::Geometry(kind) => self.push(geometry(*kind)),
            CastType::Named(name) => self.push(&name.to_ascii_lowercase()),
        }
    }
}

fn lob_prefix(size: LobSize) -> &'static str {
    match size {
        LobSize::Tiny => "tiny",
        LobSize::Normal => "",
        LobSize::Medium => "medium",
        LobSize::Long => "long",
    }
}

fn geometry(kind: GeometryKind) -> &'static str {
    match kind {
        GeometryKind::Geometry => "geometry",
        GeometryKind::Point => "point",
        GeometryKind::LineString => "linestring",
        GeometryKind::Polygon => "polygon",
        GeometryKind::MultiPoint => "multipoint",
        GeometryKind::MultiLineString => "multilinestring",
        GeometryKind::MultiPolygon => "multipolygon",
        GeometryKind::GeometryCollection => "geometrycollection",
    }
}
