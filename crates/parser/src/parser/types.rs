//! Column types and the types of `CAST`.

use super::Parser;
use crate::ast::{CastType, CharsetClause, DataType, GeometryKind, IntSize, LobSize, NumericAttrs};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    /// `(n)`, which a number has to stand in.
    fn length(&mut self) -> Res<u64> {
        self.parens(Self::real_number)
    }

    fn opt_length(&mut self) -> Res<Option<u64>> {
        if self.at_tok(Tok::LParen) {
            Ok(Some(self.length()?))
        } else {
            Ok(None)
        }
    }

    /// `(m)` or `(m,d)`
    fn opt_precision_scale(&mut self) -> Res<(Option<u64>, Option<u64>)> {
        if !self.eat_tok(Tok::LParen) {
            return Ok((None, None));
        }
        let start = self.pos;
        let precision = self.real_number()?;
        let mut scale = None;
        if self.at_tok(Tok::Comma) {
            if precision > i32::MAX as u64 || self.tokens[start].tok != Tok::Int {
                self.pos = start;
                return self.fail();
            }
            self.bump();
            let number = self.number()?;
            if number > i32::MAX as u64 {
                self.pos -= 1;
                return self.fail();
            }
            scale = Some(number);
        }
        self.expect_tok(Tok::RParen)?;
        Ok((Some(precision), scale))
    }

    fn numeric_attrs(&mut self) -> NumericAttrs {
        let mut attrs = NumericAttrs::default();
        if self.eat(Kw::SIGNED) {
            return attrs;
        }
        let unsigned = self.eat(Kw::UNSIGNED);
        attrs.zerofill = self.eat(Kw::ZEROFILL);
        attrs.unsigned = unsigned || attrs.zerofill;
        if attrs.zerofill && !unsigned {
            self.eat(Kw::UNSIGNED);
        }
        attrs
    }

    fn int_type(&mut self, size: IntSize) -> Res<DataType> {
        let width = self.opt_length()?;
        Ok(DataType::Int {
            size,
            width,
            attrs: self.numeric_attrs(),
        })
    }

    /// `CHARACTER SET x`, `CHARSET x`
    pub(super) fn eat_charset_words(&mut self) -> bool {
        self.eat(Kw::CHARSET)
            || self.eat_seq(&[Kw::CHARACTER, Kw::SET])
            || self.eat_seq(&[Kw::CHAR, Kw::SET])
    }

    /// Whatever says in which character set and order a text is.
    fn charset_clause(&mut self) -> Res<CharsetClause> {
        let mut clause = CharsetClause::default();
        loop {
            if clause.charset.is_none() && self.eat_charset_words() {
                clause.charset = Some(self.charset_name()?);
            } else if clause.charset.is_none() && self.eat(Kw::ASCII) {
                clause.charset = Some("latin1".into());
            } else if clause.charset.is_none() && self.eat(Kw::UNICODE) {
                clause.charset = Some("ucs2".into());
            } else if clause.charset.is_none() && self.eat(Kw::BYTE) {
                clause.charset = Some("binary".into());
            } else if !clause.binary && self.eat(Kw::BINARY) {
                clause.binary = true;
            } else {
                break;
            }
        }
        if self.eat(Kw::COLLATE) {
            clause.collation = Some(self.charset_or_default_name()?);
        }
        Ok(clause)
    }

    /// `COMPRESSED[=method]`, which belongs to the type but is kept with the column.
    fn opt_compressed(&mut self) -> Res<()> {
        if self.eat(Kw::COMPRESSED) {
            self.compressed = Some(if self.eat_eq() {
                Some(self.ident()?)
            } else {
                None
            });
        }
        Ok(())
    }

    fn blob_type(&mut self, size: LobSize) -> Res<DataType> {
        let length = if size == LobSize::Normal {
            self.opt_length()?
        } else {
            None
        };
        self.opt_compressed()?;
        Ok(DataType::Blob { size, length })
    }

    fn char_type(&mut self) -> Res<DataType> {
        let length = self.opt_length()?;
        Ok(DataType::Char {
            length,
            charset: self.charset_clause()?,
        })
    }

    fn varchar_type(&mut self) -> Res<DataType> {
        let length = self.length()?;
        self.opt_compressed()?;
        Ok(DataType::VarChar {
            length,
            charset: self.charset_clause()?,
        })
    }

    fn text_type(&mut self, size: LobSize) -> Res<DataType> {
        let length = if size == LobSize::Normal {
            self.opt_length()?
        } else {
            None
        };
        self.opt_compressed()?;
        Ok(DataType::Text {
            size,
            length,
            charset: self.charset_clause()?,
        })
    }

    /// `NATIONAL CHAR …`: the same as without, in utf8mb3.
    fn national(&mut self, ty: DataType) -> DataType {
        let set = |mut charset: CharsetClause| {
            charset.charset = Some("utf8mb3".into());
            charset
        };
        match ty {
            DataType::Char { length, charset } => DataType::Char {
                length,
                charset: set(charset),
            },
            DataType::VarChar { length, charset } => DataType::VarChar {
                length,
                charset: set(charset),
            },
            other => other,
        }
    }

    fn geometry_kind(&self) -> Option<GeometryKind> {
        let word = match self.peek() {
            Tok::Ident => self.token_bytes(self.pos),
            _ => return None,
        };
        const KINDS: &[(&str, GeometryKind)] = &[
            ("GEOMETRY", GeometryKind::Geometry),
            ("POINT", GeometryKind::Point),
            ("LINESTRING", GeometryKind::LineString),
            ("POLYGON", GeometryKind::Polygon),
            ("MULTIPOINT", GeometryKind::MultiPoint),
            ("MULTILINESTRING", GeometryKind::MultiLineString),
            ("MULTIPOLYGON", GeometryKind::MultiPolygon),
            ("GEOMETRYCOLLECTION", GeometryKind::GeometryCollection),
        ];
        KINDS
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, kind)| *kind)
    }

    /// A column's or variable's type.
    pub(super) fn data_type(&mut self) -> Res<DataType> {
        self.compressed = None;
        let schema = ["mariadb_schema", "oracle_schema", "maxdb_schema"]
            .iter()
            .any(|name| self.at_word(name));
        if schema && self.peek_at(1) == Tok::Dot {
            self.bump();
            self.bump();
        }
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            Tok::Ident | Tok::QuotedIdent => return self.named_type(),
            _ => return self.fail(),
        };
        self.bump();
        Ok(match kw {
            Kw::TINYINT | Kw::INT1 => self.int_type(IntSize::Tiny)?,
            Kw::SMALLINT | Kw::INT2 => self.int_type(IntSize::Small)?,
            Kw::MEDIUMINT | Kw::MIDDLEINT | Kw::INT3 => self.int_type(IntSize::Medium)?,
            Kw::INT | Kw::INTEGER | Kw::INT4 => self.int_type(IntSize::Int)?,
            Kw::BIGINT | Kw::INT8 => self.int_type(IntSize::Big)?,
            Kw::BOOL | Kw::BOOLEAN => DataType::Int {
                size: IntSize::Tiny,
                width: Some(1),
                attrs: NumericAttrs::default(),
            },
            Kw::SERIAL => DataType::Serial,
            Kw::DECIMAL | Kw::DEC | Kw::NUMERIC | Kw::FIXED | Kw::NUMBER => {
                let (precision, scale) = self.opt_precision_scale()?;
                DataType::Decimal {
                    precision,
                    scale,
                    attrs: self.numeric_attrs(),
                }
            }
            Kw::FLOAT | Kw::FLOAT4 => self.float_type(false)?,
            Kw::DOUBLE => {
                self.eat(Kw::PRECISION);
                self.float_type(true)?
            }
            Kw::FLOAT8 => self.float_type(true)?,
            Kw::REAL => self.float_type(!self.options.mode.real_as_float)?,
            Kw::BIT => DataType::Bit(self.opt_length()?),
            Kw::DATE => DataType::Date,
            Kw::TIME => DataType::Time(self.opt_length()?),
            Kw::DATETIME => DataType::DateTime(self.opt_length()?),
            Kw::TIMESTAMP => DataType::Timestamp(self.opt_length()?),
            Kw::YEAR => {
                let width = self.opt_length()?;
                self.numeric_attrs();
                DataType::Year(width)
            }
            Kw::CHAR | Kw::CHARACTER => {
                if self.eat(Kw::VARYING) {
                    self.varchar_type()?
                } else {
                    self.char_type()?
                }
            }
            Kw::NCHAR => self.national_type()?,
            Kw::NVARCHAR => {
                let ty = self.varchar_type()?;
                self.national(ty)
            }
            Kw::NATIONAL => {
                match self.expect_any(&[Kw::CHAR, Kw::CHARACTER, Kw::VARCHAR, Kw::VARCHARACTER])? {
                    Kw::CHAR | Kw::CHARACTER => self.national_type()?,
                    _ => {
                        let ty = self.varchar_type()?;
                        self.national(ty)
                    }
                }
            }
            Kw::VARCHAR | Kw::VARCHARACTER | Kw::VARCHAR2 => self.varchar_type()?,
            Kw::BINARY => DataType::Binary(self.opt_length()?),
            Kw::VARBINARY | Kw::RAW => {
                let length = self.length()?;
                self.opt_compressed()?;
                DataType::VarBinary(length)
            }
            Kw::TINYTEXT => self.text_type(LobSize::Tiny)?,
            Kw::TEXT => self.text_type(LobSize::Normal)?,
            Kw::MEDIUMTEXT => self.text_type(LobSize::Medium)?,
            Kw::LONGTEXT | Kw::CLOB => self.text_type(LobSize::Long)?,
            Kw::LONG => {
                if self.eat(Kw::VARBINARY) {
                    self.blob_type(LobSize::Medium)?
                } else {
                    if self.eat_any(&[Kw::CHAR, Kw::CHARACTER]).is_some() {
                        self.expect(Kw::VARYING)?;
                    } else {
                        self.eat_any(&[Kw::VARCHAR, Kw::VARCHARACTER]);
                    }
                    self.text_type(LobSize::Medium)?
                }
            }
            Kw::TINYBLOB => self.blob_type(LobSize::Tiny)?,
            Kw::BLOB => self.blob_type(LobSize::Normal)?,
            Kw::MEDIUMBLOB => self.blob_type(LobSize::Medium)?,
            Kw::LONGBLOB => self.blob_type(LobSize::Long)?,
            Kw::ENUM => {
                let values = self.paren_list(Self::text_bytes)?;
                DataType::Enum {
                    values,
                    charset: self.charset_clause()?,
                }
            }
            Kw::SET => {
                let values = self.paren_list(Self::text_bytes)?;
                DataType::Set {
                    values,
                    charset: self.charset_clause()?,
                }
            }
            Kw::JSON => {
                self.opt_compressed()?;
                DataType::Json {
                    charset: CharsetClause::default(),
                }
            }
            _ => {
                self.pos -= 1;
                if kw.is_reserved() {
                    return self.fail();
                }
                return self.named_type();
            }
        })
    }

    /// `NCHAR`, `NATIONAL CHAR`, perhaps `VARYING` or `VARCHAR`
    fn national_type(&mut self) -> Res<DataType> {
        let varying = self
            .eat_any(&[Kw::VARYING, Kw::VARCHAR, Kw::VARCHARACTER])
            .is_some();
        let ty = if varying {
            self.varchar_type()?
        } else {
            self.char_type()?
        };
        Ok(self.national(ty))
    }

    fn float_type(&mut self, double: bool) -> Res<DataType> {
        let (precision, scale) = self.opt_precision_scale()?;
        let attrs = self.numeric_attrs();
        Ok(if double {
            DataType::Double {
                precision,
                scale,
                attrs,
            }
        } else {
            DataType::Float {
                precision,
                scale,
                attrs,
            }
        })
    }

    fn named_type(&mut self) -> Res<DataType> {
        if let Some(kind) = self.geometry_kind() {
            self.bump();
            self.opt_precision_scale()?;
            let srid = if self.eat(Kw::REF_SYSTEM_ID) {
                self.expect_tok(Tok::Eq)?;
                Some(self.number()?)
            } else {
                None
            };
            return Ok(DataType::Geometry { kind, srid });
        }
        let name = self.ident()?;
        if self.eat_tok(Tok::LParen) {
            self.list(Self::number)?;
            self.expect_tok(Tok::RParen)?;
        }
        Ok(match name.value.to_ascii_uppercase().as_str() {
            "UUID" => DataType::Uuid,
            "INET4" => DataType::Inet4,
            "INET6" => DataType::Inet6,
            _ => DataType::Named(name.value),
        })
    }

    /// The type of a `CAST`.
    pub(super) fn cast_type(&mut self) -> Res<CastType> {
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            Tok::Ident => return self.named_cast_type(),
            _ => return self.fail(),
        };
        self.bump();
        Ok(match kw {
            Kw::BINARY => CastType::Binary(self.opt_length()?),
            Kw::CHAR | Kw::CHARACTER | Kw::VARCHAR | Kw::VARCHARACTER | Kw::VARCHAR2 => {
                if matches!(kw, Kw::CHAR | Kw::CHARACTER) {
                    self.eat(Kw::VARYING);
                }
                let length = self.opt_length()?;
                CastType::Char {
                    length,
                    charset: self.charset_clause()?,
                }
            }
            Kw::NCHAR | Kw::NATIONAL => {
                if kw == Kw::NATIONAL {
                    self.expect_any(&[Kw::CHAR, Kw::CHARACTER, Kw::VARCHAR])?;
                }
                let length = self.opt_length()?;
                CastType::Char {
                    length,
                    charset: CharsetClause {
                        charset: Some("utf8mb3".into()),
                        ..Default::default()
                    },
                }
            }
            Kw::SIGNED | Kw::INT | Kw::INTEGER => {
                if kw == Kw::SIGNED {
                    self.eat_any(&[Kw::INT, Kw::INTEGER]);
                }
                CastType::Signed
            }
            Kw::UNSIGNED => {
                self.eat_any(&[Kw::INT, Kw::INTEGER]);
                CastType::Unsigned
            }
            Kw::DATE => CastType::Date,
            Kw::TIME => CastType::Time(self.opt_length()?),
            Kw::DATETIME => CastType::DateTime(self.opt_length()?),
            Kw::DECIMAL | Kw::DEC | Kw::NUMERIC | Kw::FIXED | Kw::NUMBER => {
                let (precision, scale) = self.opt_precision_scale()?;
                CastType::Decimal { precision, scale }
            }
            Kw::FLOAT => CastType::Float,
            Kw::DOUBLE => {
                self.eat(Kw::PRECISION);
                let (precision, scale) = self.opt_precision_scale()?;
                CastType::Double { precision, scale }
            }
            Kw::REAL => CastType::Double {
                precision: None,
                scale: None,
            },
            Kw::INTERVAL => {
                self.expect(Kw::DAY_SECOND)?;
                CastType::IntervalDaySecond(self.opt_length()?)
            }
            Kw::DUAL => CastType::Named("DUAL".into()),
            Kw::BIT
            | Kw::BOOL
            | Kw::BOOLEAN
            | Kw::CLOB
            | Kw::ENUM
            | Kw::JSON
            | Kw::RAW
            | Kw::SERIAL
            | Kw::TEXT
            | Kw::TIMESTAMP
            | Kw::YEAR => {
                self.pos -= 1;
                return self.fail();
            }
            _ => {
                self.pos -= 1;
                return self.named_cast_type();
            }
        })
    }

    fn named_cast_type(&mut self) -> Res<CastType> {
        if let Some(kind) = self.geometry_kind() {
            self.bump();
            return Ok(CastType::Geometry(kind));
        }
        let name = self.ident()?;
        Ok(match name.value.to_ascii_uppercase().as_str() {
            "UUID" => CastType::Uuid,
            "INET4" => CastType::Inet4,
            "INET6" => CastType::Inet6,
            _ => CastType::Named(name.value),
        })
    }
}
