//! Constant folding.
//!
//! A plan outlives the statement that it was made for, so only what depends on nothing but its operands and the settings
//! that plans are cached by is evaluated here: not NOW(), not USER(), nothing that the session's time zone bears on. An
//! evaluation that fails is left to the execution, which fails at the right time; so is one that warns, but for the
//! operands of comparisons: they are converted once, however many rows they are compared with, and the plan keeps the
//! warnings for each execution.

use std::sync::Arc;

use selkie_expr::bind::BindCtx;
use selkie_expr::{EvalContext, EvalSettings, Expr, ExprKind, SessionInfo, Subquery, VarScope};
use selkie_types::convert::ConvertCtx;
use selkie_types::{Diagnostics, Level, SqlError, SqlResult, SqlType, TimeZone, Value, sql_err};

use crate::exprs;

/// Functions whose value depends on the session or on the moment although they are constant within a statement.
const SESSION_FUNCTIONS: &[&str] = &[
    "benchmark",
    "connection_id",
    "convert_tz",
    "curdate",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "curtime",
    "database",
    "date_format",
    "dayname",
    "found_rows",
    "from_unixtime",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "lastval",
    "load_file",
    "localtime",
    "localtimestamp",
    "master_gtid_wait",
    "master_pos_wait",
    "monthname",
    "name_const",
    "nextval",
    "now",
    "rand",
    "random_bytes",
    "release_all_locks",
    "release_lock",
    "row_count",
    "schema",
    "session_user",
    "setval",
    "sleep",
    "sysdate",
    "system_user",
    "unix_timestamp",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_short",
    "version",
    "week",
    "weekofyear",
    "yearweek",
    "timestamp",
    "add_months",
    "to_char",
    "encrypt",
];

/// Evaluates constant expressions without a session.
pub(crate) struct Folder {
    cx: Constants,
    /// Warnings of what was evaluated here.
    pub warnings: Vec<(Level, SqlError)>,
}

impl Folder {
    pub fn new(bind: &BindCtx) -> Folder {
        Folder {
            cx: Constants {
                settings: EvalSettings {
                    sql_mode: bind.sql_mode,
                    time_zone: TimeZone::Offset(0),
                    now_utc_micros: 0,
                    collation_connection: bind.collation_connection,
                    div_precision_increment: bind.div_precision_increment,
                    max_allowed_packet: bind.max_allowed_packet as usize,
                    group_concat_max_len: bind.group_concat_max_len as usize,
                    default_week_format: 0,
                    ignore: false,
                },
                diag: Diagnostics::default(),
            },
            warnings: Vec::new(),
        }
    }

    /// The expression with its constant parts evaluated.
    pub fn fold(&mut self, e: Expr) -> Expr {
        let e = exprs::rewrite(e, &mut |x| self.node(x));
        // Alone, and not where another term may make it unneeded.
        let constants_only = is_comparison(&e) && exprs::is_pure(&e) && !exprs::has_subquery(&e) && {
            let mut only = true;
            exprs::visit_children(&e, &mut |c| only &= is_constant_operand(c));
            only
        };
        if constants_only && is_foldable(&e) { self.evaluated(e, true) } else { e }
    }

    /// The value of a constant expression, if it can be had without an error, and without a warning unless they are
    /// wanted.
    fn evaluated(&mut self, e: Expr, may_warn: bool) -> Expr {
        self.cx.diag.clear();
        match e.eval(&[], &mut self.cx) {
            Ok(v) if self.cx.diag.total == 0 || may_warn => {
                self.warnings.append(&mut self.cx.diag.conditions);
                let nullable = v.is_null();
                Expr { kind: ExprKind::Const(v), ty: e.ty, nullable, coercibility: e.coercibility }
            }
            _ => e,
        }
    }

    /// Converts the constant operands of a comparison.
    fn operands(&mut self, e: Expr) -> Expr {
        exprs::map_children(e, &mut |c| match &c.kind {
            ExprKind::Cast(x) if matches!(x.kind, ExprKind::Const(_)) && is_foldable(&c) => self.evaluated(c, true),
            _ => c,
        })
    }

    fn node(&mut self, e: Expr) -> Expr {
        let mut with_others = false;
        if is_comparison(&e) {
            exprs::visit_children(&e, &mut |c| with_others |= !is_constant_operand(c));
        }
        let e = if with_others { self.operands(e) } else { e };
        match e.kind {
            ExprKind::And(_) | ExprKind::Or(_) => return logical(e),
            ExprKind::Const(_) => return e,
            _ => {}
        }
        if let ExprKind::Compare { op, left, right, .. } = &e.kind
            && *op != selkie_expr::CmpOp::NullSafeEq
            && [left, right].iter().any(|x| matches!(x.kind, ExprKind::Const(Value::Null)))
            && exprs::is_pure(&e)
            && !exprs::has_subquery(&e)
        {
            let null = ExprKind::Const(Value::Null);
            return Expr { kind: null, ty: e.ty, nullable: true, coercibility: e.coercibility };
        }
        if let ExprKind::IsNull { expr, negated } = &e.kind
            && let ExprKind::Column(_) = expr.kind
            && !expr.nullable
            && !expr.ty.is_temporal()
        {
            return Expr { kind: ExprKind::Const(Value::bool(*negated)), ty: e.ty, nullable: false, ..*expr.clone() };
        }
        if !is_foldable(&e) {
            return e;
        }
        let mut constant = true;
        let mut children = 0;
        exprs::visit_children(&e, &mut |c| {
            children += 1;
            constant &= matches!(c.kind, ExprKind::Const(_));
        });
        if !constant || (children == 0 && !matches!(e.kind, ExprKind::Call { .. })) {
            return e;
        }
        self.evaluated(e, false)
    }
}

fn is_comparison(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Compare { .. } | ExprKind::Between { .. } | ExprKind::InList { .. })
}

/// A constant, as it is or converted.
fn is_constant_operand(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Cast(x) => matches!(x.kind, ExprKind::Const(_)) && is_foldable(e),
        _ => false,
    }
}

fn is_foldable(e: &Expr) -> bool {
    let zoned = |t: &SqlType| matches!(t, SqlType::Timestamp { .. });
    match &e.kind {
        ExprKind::Not(_)
        | ExprKind::Compare { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::IsNull { .. }
        | ExprKind::IsBool { .. }
        | ExprKind::Like { .. }
        | ExprKind::Case { .. } => true,
        // A time becomes a date by way of today.
        ExprKind::Cast(x) => {
            let today = matches!(x.ty, SqlType::Time { .. }) && !matches!(e.ty, SqlType::Time { .. });
            !(zoned(&e.ty) || zoned(&x.ty) || (today && e.ty.is_temporal()))
        }
        ExprKind::Call { function, args } => {
            function.is_foldable()
                && !SESSION_FUNCTIONS.contains(&function.name())
                && !args.iter().any(|a| matches!(a.ty, SqlType::Time { .. } | SqlType::Timestamp { .. }))
        }
        _ => false,
    }
}

/// AND without TRUE, OR without FALSE; constant where one operand decides.
fn logical(e: Expr) -> Expr {
    let Expr { kind, ty, nullable, coercibility } = e;
    let (mut terms, and) = match kind {
        ExprKind::And(v) => (v, true),
        ExprKind::Or(v) => (v, false),
        kind => return Expr { kind, ty, nullable, coercibility },
    };
    let truth = |x: &Expr| match &x.kind {
        ExprKind::Const(Value::Null) => None,
        _ => exprs::constant_truth(x),
    };
    if terms.iter().any(|t| truth(t) == Some(!and)) && terms.iter().all(exprs::is_pure) {
        return Expr::constant(Value::bool(!and), SqlType::BOOL);
    }
    terms.retain(|t| truth(t) != Some(and));
    match terms.len() {
        0 => Expr::constant(Value::bool(and), SqlType::BOOL),
        // A lone operand need not be 0 or 1.
        1 if is_boolean(&terms[0]) => terms.remove(0),
        1 => {
            terms.push(Expr::constant(Value::bool(and), SqlType::BOOL));
            let kind = if and { ExprKind::And(terms) } else { ExprKind::Or(terms) };
            Expr { kind, ty, nullable, coercibility }
        }
        _ => {
            let mut flat = Vec::with_capacity(terms.len());
            for t in terms {
                match t.kind {
                    ExprKind::And(v) if and => flat.extend(v),
                    ExprKind::Or(v) if !and => flat.extend(v),
                    kind => flat.push(Expr { kind, ..t }),
                }
            }
            let kind = if and { ExprKind::And(flat) } else { ExprKind::Or(flat) };
            Expr { kind, ty, nullable, coercibility }
        }
    }
}

fn is_boolean(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Not(_)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Compare { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::IsNull { .. }
        | ExprKind::IsBool { .. }
        | ExprKind::Like { .. } => true,
        ExprKind::Subquery(s) => !matches!(s.kind, selkie_expr::SubqueryKind::Scalar),
        _ => false,
    }
}

/// A statement without rows, session or parameters.
struct Constants {
    settings: EvalSettings,
    diag: Diagnostics,
}

fn none<T>() -> SqlResult<T> {
    Err(sql_err!(ER_INTERNAL_ERROR, "not a constant"))
}

impl EvalContext for Constants {
    fn params(&self) -> &[Value] {
        &[]
    }
    fn correlated(&self) -> &[Value] {
        &[]
    }
    fn settings(&self) -> &EvalSettings {
        &self.settings
    }
    fn diag(&mut self) -> &mut Diagnostics {
        &mut self.diag
    }
    fn convert(&mut self) -> ConvertCtx<'_> {
        ConvertCtx {
            sql_mode: self.settings.sql_mode,
            time_zone: &self.settings.time_zone,
            now_utc_micros: 0,
            diag: &mut self.diag,
            ignore: false,
        }
    }
    fn run_subquery(&mut self, _: &Subquery, _: Vec<Value>, _: usize) -> SqlResult<Arc<Vec<Value>>> {
        none()
    }
    fn in_subquery(&mut self, _: &Subquery, _: Vec<Value>, _: &[Value]) -> SqlResult<Option<bool>> {
        none()
    }
    fn user_var(&self, _: &str) -> Option<(Value, SqlType)> {
        None
    }
    fn set_user_var(&mut self, _: &str, _: Value, _: SqlType) {}
    fn system_var(&mut self, _: VarScope, _: &str) -> SqlResult<Value> {
        none()
    }
    fn session(&mut self) -> &mut dyn SessionInfo {
        self
    }
    fn check_killed(&mut self) -> SqlResult<()> {
        Ok(())
    }
}

/// Never asked: what needs a session is not folded. Functions that would ask all the same get neutral answers, and a
/// warning that makes the folder leave them alone.
impl SessionInfo for Constants {
    fn connection_id(&self) -> u64 {
        0
    }
    fn user(&self) -> String {
        String::new()
    }
    fn current_user(&self) -> String {
        String::new()
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
    fn set_last_insert_id(&mut self, _: u64) {}
    fn row_count(&self) -> i64 {
        0
    }
    fn found_rows(&self) -> u64 {
        0
    }
    fn get_lock(&mut self, _: &str, _: f64) -> SqlResult<Value> {
        none()
    }
    fn release_lock(&mut self, _: &str) -> SqlResult<Value> {
        none()
    }
    fn release_all_locks(&mut self) -> SqlResult<Value> {
        none()
    }
    fn used_lock(&mut self, _: &str) -> Option<u64> {
        None
    }
    fn sleep(&mut self, _: f64) -> SqlResult<bool> {
        none()
    }
    fn rand(&mut self) -> f64 {
        self.diag.warn(sql_err!(ER_INTERNAL_ERROR, "not a constant"));
        0.0
    }
    fn uuid_short(&mut self) -> u64 {
        self.diag.warn(sql_err!(ER_INTERNAL_ERROR, "not a constant"));
        0
    }
    fn sequence_next(&mut self, _: &str, _: &str) -> SqlResult<Value> {
        none()
    }
    fn sequence_last(&mut self, _: &str, _: &str) -> SqlResult<Value> {
        none()
    }
    fn sequence_set(&mut self, _: &str, _: &str, _: i64) -> SqlResult<Value> {
        none()
    }
    fn load_file(&mut self, _: &str) -> Option<Vec<u8>> {
        None
    }
    fn replication_function(&mut self, _: &str, _: &[Value]) -> SqlResult<Value> {
        none()
    }
}
