//! A context to run operators in: a memory engine, a transaction over a simulated log, and a session that knows nothing.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use selkie_binlog::fs::SimFs;
use selkie_binlog::{Log, LogOptions};
use selkie_catalog::{Schema, Table};
use selkie_engine::Engine;
use selkie_engine_memory::MemoryEngine;
use selkie_expr::{AggregateCall, Expr, SessionInfo, SortKey, VarScope, bind};
use selkie_planner::plan::{OutputColumn, Plan, QueryPlan};
use selkie_txn::{BinlogLog, TxnManager};
use selkie_types::{Collation, Diagnostics, SqlMode, SqlResult, SqlType, TimeZone, Value};

use crate::batch::Batch;
use crate::context::{ExecCtx, ExecLimits, SessionHost};
use crate::operator::build;
use crate::row_log::RowLog;
use crate::tables::TableRuntimes;

/// A session that has one virtual table, `v(a, b)` of three rows.
pub struct FakeSession;

impl SessionInfo for FakeSession {
    fn connection_id(&self) -> u64 {
        1
    }
    fn user(&self) -> String {
        "u@h".into()
    }
    fn current_user(&self) -> String {
        "u@h".into()
    }
    fn current_role(&self) -> Option<String> {
        None
    }
    fn database(&self) -> Option<String> {
        None
    }
    fn version(&self) -> String {
        String::new()
    }
    fn last_insert_id(&self) -> u64 {
        0
    }
    fn set_last_insert_id(&mut self, _id: u64) {}
    fn row_count(&self) -> i64 {
        0
    }
    fn found_rows(&self) -> u64 {
        0
    }
    fn get_lock(&mut self, _name: &str, _timeout_seconds: f64) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn release_lock(&mut self, _name: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn release_all_locks(&mut self) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn used_lock(&mut self, _name: &str) -> Option<u64> {
        None
    }
    fn sleep(&mut self, _seconds: f64) -> SqlResult<bool> {
        Ok(false)
    }
    fn rand(&mut self) -> f64 {
        0.5
    }
    fn uuid_short(&mut self) -> u64 {
        0
    }
    fn sequence_next(&mut self, _db: &str, _name: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn sequence_last(&mut self, _db: &str, _name: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn sequence_set(&mut self, _db: &str, _name: &str, _value: i64) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn load_file(&mut self, _path: &str) -> Option<Vec<u8>> {
        None
    }
    fn replication_function(&mut self, _name: &str, _args: &[Value]) -> SqlResult<Value> {
        Ok(Value::Null)
    }
}

impl SessionHost for FakeSession {
    fn user_var(&self, _name: &str) -> Option<(Value, SqlType)> {
        None
    }
    fn set_user_var(&mut self, _name: &str, _value: Value, _ty: SqlType) {}
    fn system_var(&mut self, _scope: VarScope, _name: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn virtual_rows(&mut self, _db: &str, _name: &str, lookups: &[(usize, Value)]) -> SqlResult<Vec<Value>> {
        let rows = (0..3).filter(|i| lookups.iter().all(|(c, v)| *c != 0 || *v == Value::Int(*i)));
        Ok(rows.flat_map(|i| [Value::Int(i), Value::Int(i * 10)]).collect())
    }
    fn virtual_width(&mut self, _db: &str, _name: &str) -> SqlResult<usize> {
        Ok(2)
    }
    fn call_function(&mut self, _db: &str, _name: &str, _args: Vec<Value>) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// Keeps what was told to the log, as text.
#[derive(Default)]
pub struct Told(pub Vec<String>);

impl RowLog for Told {
    fn insert(&mut self, table: &Table, row: &[Value], _key: &[u8]) -> SqlResult<()> {
        self.0.push(format!("insert {} {}", table.name, shown(row)));
        Ok(())
    }
    fn update(&mut self, table: &Table, before: &[Value], after: &[Value], _key: &[u8]) -> SqlResult<()> {
        self.0.push(format!("update {} {} -> {}", table.name, shown(before), shown(after)));
        Ok(())
    }
    fn delete(&mut self, table: &Table, row: &[Value], _key: &[u8]) -> SqlResult<()> {
        self.0.push(format!("delete {} {}", table.name, shown(row)));
        Ok(())
    }
}

/// A row as text: `1,NULL,x`.
pub fn shown(row: &[Value]) -> String {
    let one = |v: &Value| match v {
        Value::Null => "NULL".to_owned(),
        Value::Int(i) => i.to_string(),
        Value::UInt(u) => u.to_string(),
        Value::Double(d) => d.to_string(),
        Value::Decimal(d) => d.to_string(),
        Value::Bytes(b) => String::from_utf8_lossy(b).into_owned(),
        other => format!("{other:?}"),
    };
    row.iter().map(one).collect::<Vec<_>>().join(",")
}

/// An execution whose tables are those of a schema (with engine indexes for them).
pub struct Fixture {
    pub schema: Arc<Schema>,
    pub spill_bytes: usize,
    pub max_recursive_iterations: u64,
    pub diag: Diagnostics,
    pub told: Told,
    engine: Arc<dyn Engine>,
    txns: Arc<TxnManager<BinlogLog>>,
}

impl Default for Fixture {
    fn default() -> Fixture {
        Fixture::new(Schema::default())
    }
}

impl Fixture {
    pub fn new(schema: Schema) -> Fixture {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        for index in schema.engine_indexes() {
            engine.create_index(index).unwrap();
        }
        let (log, _) = Log::open(Arc::new(SimFs::new()), LogOptions::default()).unwrap();
        let end = log.end().0;
        let txns = TxnManager::new(engine.clone(), engine.clone(), BinlogLog::new(log), end);
        Fixture {
            schema: Arc::new(schema),
            spill_bytes: 1 << 30,
            max_recursive_iterations: 1000,
            diag: Diagnostics::default(),
            told: Told::default(),
            engine,
            txns,
        }
    }

    /// With so little memory that everything spills.
    pub fn tiny() -> Fixture {
        Fixture { spill_bytes: 600, ..Fixture::default() }
    }

    /// Runs `f` in one transaction, which is rolled back.
    pub fn run<R>(&mut self, f: impl FnOnce(&mut ExecCtx<'_>) -> R) -> R {
        let mut txn = self.txns.transaction();
        txn.begin(selkie_txn::Isolation::RepeatableRead, true);
        txn.begin_statement();
        let tables = TableRuntimes::new(self.engine.clone(), self.engine.clone());
        let settings = selkie_expr::EvalSettings {
            sql_mode: SqlMode::DEFAULT,
            time_zone: TimeZone::Offset(0),
            now_utc_micros: 0,
            collation_connection: Collation::UTF8MB4_GENERAL_CI,
            div_precision_increment: 4,
            max_allowed_packet: 1 << 24,
            group_concat_max_len: 1 << 20,
            default_week_format: 0,
            ignore: false,
        };
        let limits = ExecLimits {
            memory_max: 1 << 30,
            spill_bytes: self.spill_bytes,
            max_recursive_iterations: self.max_recursive_iterations,
            deadline: None,
            select_limit: u64::MAX,
            foreign_key_checks: true,
            unique_checks: true,
            check_constraint_checks: true,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            insert_id: None,
        };
        let killed = AtomicBool::new(false);
        let mut session = FakeSession;
        let mut cx = ExecCtx::new(
            self.schema.clone(),
            &mut txn,
            &tables,
            &mut self.told,
            &[],
            settings,
            limits,
            &mut self.diag,
            &mut session,
            &killed,
        );
        f(&mut cx)
    }

    /// The rows of a plan.
    pub fn rows(&mut self, plan: &Plan) -> SqlResult<Vec<Vec<Value>>> {
        self.run(|cx| {
            let rows = all_rows(cx, plan)?;
            Ok(rows)
        })
    }

    /// The rows of a plan as text.
    pub fn text(&mut self, plan: &Plan) -> Vec<String> {
        self.rows(plan).unwrap().iter().map(|r| shown(r)).collect()
    }
}

/// The rows of a plan, read twice with a rewind in between, in batches of a few.
pub fn all_rows(cx: &mut ExecCtx<'_>, plan: &Plan) -> SqlResult<Vec<Vec<Value>>> {
    let mut operator = build(plan)?;
    let read = |operator: &mut crate::operator::BoxOperator<'_>, cx: &mut ExecCtx<'_>, wanted| {
        let mut rows = Vec::new();
        let mut batch = Batch::new(operator.width());
        batch.wanted = wanted;
        loop {
            operator.next(cx, &mut batch)?;
            if batch.is_empty() {
                return SqlResult::Ok(rows);
            }
            rows.extend(batch.rows().map(|r| r.to_vec()));
        }
    };
    let first = read(&mut operator, cx, Batch::ROWS)?;
    operator.rewind(cx)?;
    let second = read(&mut operator, cx, 3)?;
    assert_eq!(first, second, "after a rewind");
    Ok(first)
}

pub const INT: SqlType = SqlType::BIGINT;

/// A slot of type BIGINT.
pub fn slot(i: usize) -> Expr {
    Expr::column(i, INT, true)
}

/// A correlated BIGINT.
pub fn correlated(i: usize) -> Expr {
    Expr { kind: selkie_expr::ExprKind::Correlated(i), ..slot(0) }
}

pub fn int(v: i64) -> Expr {
    Expr::constant(Value::Int(v), INT)
}

/// Rows of integers.
pub fn values(rows: &[Vec<Option<i64>>], width: usize) -> Plan {
    let constant = |v: &Option<i64>| Expr::constant(v.map_or(Value::Null, Value::Int), INT);
    Plan::Values { rows: rows.iter().map(|r| r.iter().map(constant).collect()).collect(), types: vec![INT; width] }
}

/// Rows of integers without NULL.
pub fn ints(rows: &[&[i64]]) -> Plan {
    let width = rows.first().map_or(1, |r| r.len());
    values(&rows.iter().map(|r| r.iter().map(|v| Some(*v)).collect()).collect::<Vec<_>>(), width)
}

pub fn compare(op: selkie_expr::CmpOp, l: Expr, r: Expr) -> Expr {
    bind::bind_compare(&bind::BindCtx::default(), op, l, r).unwrap()
}

pub fn add(l: Expr, r: Expr) -> Expr {
    bind::bind_binary(&bind::BindCtx::default(), bind::BinaryOp::Add, l, r).unwrap()
}

pub fn asc(expr: Expr) -> SortKey {
    SortKey { expr, descending: false }
}

pub fn desc(expr: Expr) -> SortKey {
    SortKey { expr, descending: true }
}

pub fn aggregate(name: &str, args: Vec<Expr>) -> AggregateCall {
    bind::bind_aggregate(&bind::BindCtx::default(), name, false, args, Vec::new(), None, None).unwrap()
}

/// A query of BIGINT columns.
pub fn query(root: Plan, columns: usize) -> QueryPlan {
    let column = |i| OutputColumn { name: format!("c{i}"), ty: INT, nullable: true, origin: None };
    QueryPlan {
        root,
        columns: (0..columns).map(column).collect(),
        shared: Vec::new(),
        param_count: 0,
        calc_found_rows: false,
    }
}

/// A table of INT columns in database `test`, whose primary key is the first column and which has a plain index on each
/// other one.
pub fn table(id: u64, name: &str, columns: &[&str], foreign_keys: Vec<selkie_catalog::ForeignKey>) -> Table {
    use selkie_catalog::{Column, ColumnDefault, Index, IndexIdDef, IndexKind, IndexPart, Partition, TableKind};
    let column = |(i, name): (usize, &&str)| Column {
        name: (*name).to_owned(),
        ty: INT,
        nullable: i > 0,
        default: ColumnDefault::None,
        on_update_now: false,
        auto_increment: false,
        generated: None,
        invisible: false,
        comment: String::new(),
        declared: None,
    };
    let index = |i: usize| Index {
        name: if i == 0 { "PRIMARY".to_owned() } else { columns[i].to_owned() },
        primary: i == 0,
        unique: i == 0,
        kind: IndexKind::BTree,
        parts: vec![IndexPart { column: i, prefix: None, descending: false }],
        comment: String::new(),
        ignored: false,
        using_shown: false,
        generated: false,
        key_block_size: 0,
    };
    let partition = Partition {
        name: String::new(),
        rows: IndexIdDef(id * 100),
        indexes: (0..columns.len() as u64).map(|i| IndexIdDef(id * 100 + i)).collect(),
    };
    Table {
        id,
        db: "test".into(),
        name: name.into(),
        kind: TableKind::Base,
        temporary: false,
        engine: "InnoDB".into(),
        collation: Collation::UTF8MB4_GENERAL_CI,
        columns: columns.iter().enumerate().map(column).collect(),
        indexes: (0..columns.len()).map(index).collect(),
        checks: Vec::new(),
        foreign_keys,
        comment: String::new(),
        options: Vec::new(),
        auto_increment_start: 1,
        partitions: vec![partition],
        partition_by: None,
        row_version: 0,
        row_versions: Vec::new(),
        create_time: 0,
        derived: Default::default(),
    }
}

/// A schema of the tables given.
pub fn schema(tables: Vec<Table>) -> Schema {
    use selkie_catalog::dictionary::DictionaryChange;
    let database = selkie_catalog::Database {
        name: "test".into(),
        collation: Collation::UTF8MB4_GENERAL_CI,
        comment: String::new(),
        tables: Default::default(),
    };
    let mut changes = vec![DictionaryChange::PutDatabase(database)];
    changes.extend(tables.into_iter().map(|t| DictionaryChange::PutTable(Box::new(t))));
    Schema::default().apply(&changes)
}
