//! SHOW and DESCRIBE.
//!
//! Each kind makes a [`Listing`]: MariaDB's columns (from `data/show.tsv`) and the rows. LIKE is applied to the listing's
//! first column; WHERE becomes a query over the listing, so that it may say whatever a query may.
//!
//! It must not know how rows are encoded.

mod binlog;
mod columns;
mod create;
mod diagnostics;
mod engine_status;
mod server;
pub mod status;
mod tables;

use selkie_parser::ast::{self, ShowFilter, ShowKind, Statement};
use selkie_parser::{ParseOptions, parse};
use selkie_planner::context::VirtualColumn;
use selkie_planner::plan::OutputColumn;
use selkie_types::{Collation, SqlError, SqlResult, SqlType, Value, convert, sql_err};

use crate::client::Client;
use crate::host::not_supported;
use crate::session::{Answer, Session};
use crate::virtual_tables::{Context, Rows, ShowResult, definitions};

/// The result of a SHOW before its filter.
pub struct Listing {
    columns: Vec<OutputColumn>,
    /// Cells, row after row.
    pub rows: Rows,
    /// The column that LIKE is applied to.
    like_column: usize,
    /// Whether LIKE tells upper from lower case.
    case_sensitive: bool,
}

impl Listing {
    /// With the columns of a result in `data/show.tsv`.
    pub fn of(name: &str) -> Listing {
        let output = |c: &definitions::ColumnDefinition| OutputColumn {
            name: c.name.to_owned(),
            ty: c.ty.clone(),
            nullable: c.nullable,
            origin: None,
        };
        let columns = definitions::of_show(name).iter().map(output).collect();
        Listing { columns, rows: Rows::new(), like_column: 0, case_sensitive: false }
    }

    /// With text columns of these names and lengths.
    pub fn text(names: &[(&str, u32)]) -> Listing {
        let column = |(name, len): &(&str, u32)| OutputColumn {
            name: (*name).to_owned(),
            ty: SqlType::varchar(*len, Collation::UTF8MB3_GENERAL_CI),
            nullable: false,
            origin: None,
        };
        Listing { columns: names.iter().map(column).collect(), rows: Rows::new(), like_column: 0, case_sensitive: false }
    }

    /// Another heading for a column.
    pub fn rename(mut self, column: usize, name: String) -> Listing {
        if let Some(c) = self.columns.get_mut(column) {
            c.name = name;
        }
        self
    }

    /// LIKE is applied to this column.
    pub fn like_on(mut self, column: usize) -> Listing {
        self.like_column = column;
        self
    }

    /// LIKE tells upper from lower case.
    pub fn sensitive(mut self) -> Listing {
        self.case_sensitive = true;
        self
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }
}

/// Whether a name fits a LIKE pattern.
pub fn name_like(name: &str, pattern: &[u8], case_sensitive: bool) -> bool {
    let collation = if case_sensitive { Collation::UTF8MB3_BIN } else { Collation::UTF8MB3_GENERAL_CI };
    collation.like(name.as_bytes(), pattern, Some('\\'))
}

/// The pattern of a filter, if it is one.
fn pattern(filter: Option<&ShowFilter>) -> Option<&[u8]> {
    match filter {
        Some(ShowFilter::Like(p)) => Some(p),
        _ => None,
    }
}

impl Session {
    /// Runs SHOW and writes its answer.
    pub fn run_show(&mut self, client: &mut Client, s: &ast::Show, answer: Answer) -> SqlResult<()> {
        let filter = s.filter.as_ref();
        let listing = match &s.kind {
            ShowKind::Databases => self.show_databases(filter),
            ShowKind::Tables { full, db } => self.show_tables(*full, db.as_ref(), filter)?,
            ShowKind::TableStatus { db } => self.show_table_status(db.as_ref(), filter)?,
            ShowKind::OpenTables { db } => self.show_open_tables(db.as_ref())?,
            ShowKind::Columns { full, table } => self.show_columns(*full, table)?,
            ShowKind::Index { table } => self.show_index(table)?,
            ShowKind::Triggers { db } => self.show_nothing_of("triggers", db.as_ref())?,
            ShowKind::Events { db } => self.show_nothing_of("events", db.as_ref())?.like_on(1),
            ShowKind::FunctionStatus | ShowKind::ProcedureStatus | ShowKind::PackageStatus | ShowKind::PackageBodyStatus => {
                Listing::of("routine_status").like_on(1)
            }
            ShowKind::CreateDatabase { if_not_exists, name } => self.show_create_database(*if_not_exists, &name.value)?,
            ShowKind::CreateTable(name) => self.show_create_table(name)?,
            ShowKind::CreateView(name) => self.show_create_view(name)?,
            ShowKind::CreateSequence(name) => self.show_create_sequence(name)?,
            ShowKind::CreateUser(user) => self.show_create_user(user.as_ref())?,
            ShowKind::Grants(user) => self.show_grants(user.as_ref())?,
            ShowKind::Variables { scope } => self.show_variables(*scope),
            ShowKind::Status { .. } => self.show_status(),
            ShowKind::Warnings { offset, count } => self.show_conditions(false, offset.as_ref(), count.as_ref())?,
            ShowKind::Errors { offset, count } => self.show_conditions(true, offset.as_ref(), count.as_ref())?,
            ShowKind::WarningCount => self.show_condition_count(false),
            ShowKind::ErrorCount => self.show_condition_count(true),
            ShowKind::ProcessList { full } => self.show_processlist(*full),
            ShowKind::Engines => self.show_engines()?,
            ShowKind::CharacterSet => self.show_character_sets()?,
            ShowKind::Collation => self.show_collations()?,
            ShowKind::Plugins | ShowKind::PluginsSoname { .. } => self.show_plugins(),
            ShowKind::Privileges => self.show_privileges(),
            ShowKind::Contributors => server::people("contributors"),
            ShowKind::Authors => server::people("authors"),
            ShowKind::Profiles => Listing::of("profiles"),
            ShowKind::Profile { .. } => Listing::of("profile"),
            ShowKind::Engine { engine, what } => self.show_engine(engine.as_ref(), *what)?,
            ShowKind::BinaryLogs => self.show_binary_logs()?,
            ShowKind::BinlogStatus => self.show_binlog_status()?,
            ShowKind::BinlogEvents { file, position, offset, count } => {
                self.show_binlog_events(file.as_deref(), *position, offset.as_ref(), count.as_ref())?
            }
            ShowKind::RelaylogEvents { .. } => Listing::of("binlog_events"),
            ShowKind::SlaveHosts => Listing::of("slave_hosts"),
            ShowKind::SlaveStatus { all: false, .. } => {
                self.require_one_of(&["SUPER", "SLAVE MONITOR"])?;
                Listing::of("slave_status")
            }
            ShowKind::SlaveStatus { all: true, .. } => {
                self.require_one_of(&["SUPER", "SLAVE MONITOR"])?;
                Listing::of("all_slaves_status")
            }
            ShowKind::CreateProcedure(n) | ShowKind::ProcedureCode(n) => return Err(missing("PROCEDURE", n)),
            ShowKind::CreateFunction(n) | ShowKind::FunctionCode(n) => return Err(missing("FUNCTION", n)),
            ShowKind::CreatePackage(n) => return Err(missing("PACKAGE", n)),
            ShowKind::CreatePackageBody(n) => return Err(missing("PACKAGE BODY", n)),
            ShowKind::CreateTrigger(_) => return Err(sql_err!(ER_TRG_DOES_NOT_EXIST)),
            ShowKind::CreateEvent(n) => return Err(sql_err!(ER_EVENT_DOES_NOT_EXIST, n.name.value)),
            ShowKind::CreateServer(n) => return Err(sql_err!(ER_FOREIGN_SERVER_DOESNT_EXIST, n.value)),
            ShowKind::ExplainFor { .. } => return Err(not_supported("SHOW EXPLAIN")),
            ShowKind::Named(name) => self.show_named(&name.value)?,
        };
        self.answer_listing(client, listing, filter, answer)
    }

    /// Runs DESCRIBE t and writes its answer.
    pub fn run_describe(&mut self, client: &mut Client, d: &ast::DescribeTable, answer: Answer) -> SqlResult<()> {
        let listing = self.show_columns(d.full, &d.table)?;
        let filter = d.column.clone().map(ShowFilter::Like);
        self.answer_listing(client, listing, filter.as_ref(), answer)
    }

    /// Tables that only have columns here: statistics by user and the like.
    fn show_named(&mut self, name: &str) -> SqlResult<Listing> {
        let lower = name.to_ascii_lowercase();
        if definitions::of_show(&lower).is_empty() {
            return Err(sql_err!(ER_UNKNOWN_TABLE, name, "information_schema"));
        }
        Ok(Listing::of(&lower))
    }

    /// The columns alone, of a database that must exist.
    fn show_nothing_of(&mut self, name: &str, db: Option<&ast::Ident>) -> SqlResult<Listing> {
        self.listed_database(db)?;
        Ok(Listing::of(name))
    }

    fn answer_listing(
        &mut self,
        client: &mut Client,
        listing: Listing,
        filter: Option<&ShowFilter>,
        answer: Answer,
    ) -> SqlResult<()> {
        let width = listing.width().max(1);
        let (like_column, sensitive) = (listing.like_column, listing.case_sensitive);
        let columns = listing.columns;
        let mut rows = listing.rows.into_values();
        match filter {
            None => {}
            Some(ShowFilter::Like(p)) => {
                let fits = |row: &[Value]| match row.get(like_column) {
                    Some(Value::Null) | None => false,
                    Some(v) => {
                        let text = convert::text_of(v, &columns[like_column].ty);
                        name_like(&String::from_utf8_lossy(&text), p, sensitive)
                    }
                };
                rows = rows.chunks(width).filter(|r| fits(r)).flatten().cloned().collect();
            }
            Some(ShowFilter::Where(condition)) => {
                return self.answer_where(client, columns, rows, condition, answer);
            }
        }
        self.write_result(client, &columns, &rows, answer)
    }

    /// Answers with the rows of a listing for which a condition is true: a query over them.
    fn answer_where(
        &mut self,
        client: &mut Client,
        columns: Vec<OutputColumn>,
        rows: Vec<Value>,
        condition: &ast::Expr,
        answer: Answer,
    ) -> SqlResult<()> {
        let text = b"SELECT * FROM `#show`.`result` WHERE 1";
        let mut statement =
            parse(text, &ParseOptions::default()).map_err(crate::session::parse_error)?.statement;
        if let Statement::Query(q) = &mut statement
            && let ast::SetExpr::Select(select) = &mut q.body
        {
            select.where_clause = Some(condition.clone());
        }
        let column = |c: &OutputColumn| VirtualColumn { name: c.name.clone(), ty: c.ty.clone(), nullable: c.nullable };
        self.host.show_result = Some(ShowResult { columns: columns.iter().map(column).collect(), rows });
        let result = self.run_data_statement(client, &statement, text, answer);
        self.host.show_result = None;
        result
    }

    /// The dictionary and privileges as this session sees them now.
    fn view(&self) -> Context<'_> {
        Context::new(&self.host, &[])
    }
}

fn missing(kind: &str, name: &ast::ObjectName) -> SqlError {
    sql_err!(ER_SP_DOES_NOT_EXIST, kind, name.name.value)
}
