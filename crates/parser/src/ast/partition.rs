//! Partitioning: definitions, and what `ALTER TABLE` does with partitions.

use super::{Expr, Ident, NamedOption, ObjectName};

#[derive(Debug, Clone, PartialEq)]
pub struct PartitionBy {
    pub method: PartitionMethod,
    /// `PARTITIONS n`
    pub count: Option<u64>,
    /// Its method is `Hash` or `Key`.
    pub subpartition_by: Option<SubpartitionBy>,
    pub partitions: Vec<PartitionDef>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SubpartitionBy {
    pub method: PartitionMethod,
    pub count: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartitionMethod {
    Hash {
        linear: bool,
        expr: Expr,
    },
    /// No columns: the primary key's.
    Key {
        linear: bool,
        algorithm: Option<u64>,
        columns: Vec<Ident>,
    },
    Range(Expr),
    RangeColumns(Vec<Ident>),
    List(Expr),
    ListColumns(Vec<Ident>),
    SystemTime {
        interval: Option<(Expr, super::IntervalUnit)>,
        /// `STARTS`
        starts: Option<Expr>,
        limit: Option<u64>,
        /// `AUTO`
        auto: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct PartitionDef {
    pub name: Ident,
    pub values: Option<PartitionValues>,
    pub options: PartitionOptions,
    pub subpartitions: Vec<SubpartitionDef>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SubpartitionDef {
    pub name: Ident,
    pub options: PartitionOptions,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    /// `VALUES LESS THAN (…)`, or `VALUES LESS THAN MAXVALUE`
    LessThan(Vec<PartitionValue>),
    /// `VALUES IN (…)`, a row of values for each entry
    In(Vec<Vec<PartitionValue>>),
    /// `DEFAULT` or `VALUES IN (DEFAULT)`
    Default,
    /// `HISTORY` of `SYSTEM_TIME`
    History,
    /// `CURRENT` of `SYSTEM_TIME`
    Current,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValue {
    Expr(Expr),
    MaxValue,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartitionOptions {
    pub engine: Option<Ident>,
    pub comment: Option<String>,
    pub data_directory: Option<String>,
    pub index_directory: Option<String>,
    pub max_rows: Option<u64>,
    pub min_rows: Option<u64>,
    pub nodegroup: Option<u64>,
    pub tablespace: Option<Ident>,
    pub other: Vec<NamedOption>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionNames {
    All,
    Names(Vec<Ident>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartitionAction {
    /// `ADD PARTITION [IF NOT EXISTS] [NO_WRITE_TO_BINLOG] (…)`, or `PARTITIONS n`
    Add {
        if_not_exists: bool,
        no_write_to_binlog: bool,
        partitions: Vec<PartitionDef>,
        count: Option<u64>,
    },
    Drop {
        if_exists: bool,
        names: Vec<Ident>,
    },
    /// `None`: `REORGANIZE PARTITION` alone
    Reorganize {
        no_write_to_binlog: bool,
        names: Vec<Ident>,
        into: Vec<PartitionDef>,
    },
    Coalesce {
        no_write_to_binlog: bool,
        count: u64,
    },
    Truncate(PartitionNames),
    Analyze {
        no_write_to_binlog: bool,
        names: PartitionNames,
    },
    Check {
        names: PartitionNames,
        options: super::CheckOptions,
    },
    Optimize {
        no_write_to_binlog: bool,
        names: PartitionNames,
    },
    Repair {
        no_write_to_binlog: bool,
        names: PartitionNames,
        options: super::RepairOptions,
    },
    Rebuild {
        no_write_to_binlog: bool,
        names: PartitionNames,
    },
    Exchange {
        partition: Ident,
        table: ObjectName,
        validation: Option<bool>,
    },
    /// `CONVERT PARTITION p TO TABLE t`
    ConvertToTable {
        partition: Ident,
        table: ObjectName,
    },
    /// `CONVERT TABLE t TO PARTITION p VALUES …`
    ConvertFromTable {
        table: ObjectName,
        partition: PartitionDef,
        validation: Option<bool>,
    },
    DiscardTablespace(PartitionNames),
    ImportTablespace(PartitionNames),
    /// `REMOVE PARTITIONING`
    Remove,
}
