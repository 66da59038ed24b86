//! Column types and the types of `CAST`.

/// A type as declared. Lengths are what was written, unchecked (a number past 64 bits is the largest one).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DataType {
    /// `BOOL`/`BOOLEAN` are `TINYINT(1)`; `INT1` … `INT8`, `MIDDLEINT` are given by their usual names.
    Int {
        size: IntSize,
        width: Option<u64>,
        attrs: NumericAttrs,
    },
    Decimal {
        precision: Option<u64>,
        scale: Option<u64>,
        attrs: NumericAttrs,
    },
    /// `FLOAT`, `FLOAT(p)`, `FLOAT(m,d)`
    Float {
        precision: Option<u64>,
        scale: Option<u64>,
        attrs: NumericAttrs,
    },
    /// `DOUBLE [PRECISION]`, `REAL` (unless `REAL_AS_FLOAT`), `FLOAT8`
    Double {
        precision: Option<u64>,
        scale: Option<u64>,
        attrs: NumericAttrs,
    },
    Bit(Option<u64>),
    /// `BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE`
    Serial,
    Date,
    /// Fractional digits.
    Time(Option<u64>),
    DateTime(Option<u64>),
    Timestamp(Option<u64>),
    Year(Option<u64>),
    Char {
        length: Option<u64>,
        charset: CharsetClause,
    },
    VarChar {
        length: u64,
        charset: CharsetClause,
    },
    Binary(Option<u64>),
    VarBinary(u64),
    /// `length` only for plain `TEXT(n)`; `LONG`, `LONG VARCHAR` are `MEDIUMTEXT`.
    Text {
        size: LobSize,
        length: Option<u64>,
        charset: CharsetClause,
    },
    Blob {
        size: LobSize,
        length: Option<u64>,
    },
    Enum {
        values: Vec<Vec<u8>>,
        charset: CharsetClause,
    },
    Set {
        values: Vec<Vec<u8>>,
        charset: CharsetClause,
    },
    Json {
        charset: CharsetClause,
    },
    Uuid,
    Inet4,
    Inet6,
    /// `srid` from `REF_SYSTEM_ID = n`
    Geometry {
        kind: GeometryKind,
        srid: Option<u64>,
    },
    /// A name that a plugin may define.
    Named(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntSize {
    Tiny,
    Small,
    Medium,
    Int,
    Big,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NumericAttrs {
    pub unsigned: bool,
    pub zerofill: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LobSize {
    Tiny,
    /// `TEXT`, `BLOB`
    Normal,
    Medium,
    Long,
}

/// `CHARACTER SET …`, `COLLATE …`, `BINARY`, `ASCII`, `UNICODE`, `NATIONAL`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CharsetClause {
    /// `ASCII` is latin1, `UNICODE` is ucs2, `BYTE` is binary, `NATIONAL` is utf8mb3.
    pub charset: Option<String>,
    /// `BINARY`: the character set's `_bin` collation.
    pub binary: bool,
    /// Of the type or among the column's attributes.
    pub collation: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GeometryKind {
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

/// The target of `CAST` and `CONVERT`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CastType {
    Binary(Option<u64>),
    /// `CHAR`, `NCHAR`, `VARCHAR`
    Char {
        length: Option<u64>,
        charset: CharsetClause,
    },
    /// `SIGNED [INT]`, `INT`
    Signed,
    Unsigned,
    Date,
    Time(Option<u64>),
    DateTime(Option<u64>),
    Decimal {
        precision: Option<u64>,
        scale: Option<u64>,
    },
    Float,
    Double {
        precision: Option<u64>,
        scale: Option<u64>,
    },
    /// `INTERVAL DAY_SECOND(n)`
    IntervalDaySecond(Option<u64>),
    Uuid,
    Inet4,
    Inet6,
    Geometry(GeometryKind),
    Named(String),
}
