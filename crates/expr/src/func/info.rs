//! Functions that ask or change the session, and those about other expressions (CHARSET, NAME_CONST, BENCHMARK).

use selkie_types::{Collation, IntWidth, SqlResult, SqlType, Value, sql_err};

use super::args::{self, arg, bytes};
use super::{Build, Call, Def, EvalFn, def};
use crate::bind::{BindCtx, attr, collation};
use crate::context::EvalContext;
use crate::ir::{Coercibility, Expr, ExprKind};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("version", 0, 0, |_, n, a| system_text(n, version, a, 26, false)),
    def("user", 0, 0, |_, n, a| system_text(n, user, a, 384, false)),
    def("session_user", 0, 0, |_, _, a| system_text("user", user, a, 384, false)),
    def("system_user", 0, 0, |_, _, a| system_text("user", user, a, 384, false)),
    def("current_user", 0, 0, |_, n, a| system_text(n, current_user, a, 384, false)),
    def("current_role", 0, 0, |_, n, a| system_text(n, current_role, a, 128, true)),
    def("database", 0, 0, |_, n, a| system_text(n, database, a, 64, true)),
    def("schema", 0, 0, |_, _, a| system_text("database", database, a, 64, true)),
    def("connection_id", 0, 0, |_, n, a| Build::new(n, connection_id, a, attr::int(IntWidth::Int, 10, true)).ok()),
    def("last_insert_id", 0, 1, bind_last_insert_id),
    def("row_count", 0, 0, |_, n, a| Build::new(n, row_count, a, attr::bigint(21, false)).volatile().ok()),
    def("found_rows", 0, 0, |_, n, a| Build::new(n, found_rows, a, attr::bigint(21, false)).volatile().ok()),
    def("uuid_short", 0, 0, |_, n, a| Build::new(n, uuid_short, a, attr::bigint(21, true)).volatile().ok()),
    def("charset", 1, 1, |_, n, a| about(n, charset_of, a)),
    def("collation", 1, 1, |_, n, a| about(n, collation_of, a)),
    def("coercibility", 1, 1, |_, n, a| Build::new(n, coercibility_of, a, attr::int4(10)).nullable(false).ok()),
    def("benchmark", 2, 2, |_, n, mut a| {
        let count = args::to_int(a.remove(0));
        a.insert(0, count);
        Build::new(n, benchmark, a, SqlType::BOOL).nullable(false).volatile().ok()
    }),
    def("sleep", 1, 1, |_, n, a| {
        Build::new(n, sleep, a.into_iter().map(args::to_double).collect(), SqlType::BOOL)
            .nullable(false)
            .volatile()
            .ok()
    }),
    def("get_lock", 2, 2, bind_get_lock),
    def("release_lock", 1, 1, |cx, n, a| lock_function(cx, n, release_lock, a, SqlType::BOOL)),
    def("is_free_lock", 1, 1, |cx, n, a| lock_function(cx, n, is_free_lock, a, SqlType::BOOL)),
    def("is_used_lock", 1, 1, |cx, n, a| lock_function(cx, n, is_used_lock, a, attr::int(IntWidth::Int, 10, false))),
    def("release_all_locks", 0, 0, |_, n, a| {
        Build::new(n, release_all_locks, a, attr::int(IntWidth::Int, 10, true)).volatile().ok()
    }),
    def("name_const", 2, 2, bind_name_const),
    def("load_file", 1, 1, |cx, n, a| {
        let a = a.into_iter().map(|e| collation::to_text(cx, e)).collect();
        Build::new(n, load_file, a, attr::text(u32::MAX as u64, Collation::BINARY)).nullable(true).volatile().ok()
    }),
    def("master_gtid_wait", 1, 2, replication),
    def("master_pos_wait", 2, 4, replication),
    def("binlog_gtid_pos", 2, 2, |_, n, a| {
        Build::new(n, eval_replication, a, attr::text(u32::MAX as u64, SYSTEM)).nullable(true).volatile().ok()
    }),
    def("nextval", 2, 2, sequence),
    def("lastval", 2, 2, sequence),
    def("setval", 3, 5, sequence),
];

const SYSTEM: Collation = Collation::UTF8MB3_GENERAL_CI;

fn system_text(name: &'static str, eval: EvalFn, args: Vec<Expr>, len: u64, nullable: bool) -> SqlResult<Expr> {
    Build::new(name, eval, args, attr::text(len, SYSTEM)).nullable(nullable).strength(Coercibility::SysConst).ok()
}

fn opt_text(s: Option<String>) -> Value {
    s.map_or(Value::Null, |s| Value::text(&s))
}

macro_rules! session_fn {
    ($name:ident, |$s:ident| $e:expr) => {
        fn $name(_: &Call, _: &[Expr], _: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let $s = ctx.session();
            Ok($e)
        }
    };
}
session_fn!(version, |s| Value::text(&s.version()));
session_fn!(user, |s| Value::text(&s.user()));
session_fn!(current_user, |s| Value::text(&s.current_user()));
session_fn!(current_role, |s| opt_text(s.current_role()));
session_fn!(database, |s| opt_text(s.database()));
session_fn!(connection_id, |s| Value::UInt(s.connection_id()));
session_fn!(row_count, |s| Value::Int(s.row_count()));
session_fn!(found_rows, |s| Value::Int(s.found_rows() as i64));
session_fn!(uuid_short, |s| Value::UInt(s.uuid_short()));
session_fn!(release_all_locks, |s| s.release_all_locks()?);

fn bind_last_insert_id(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    match args.into_iter().next() {
        None => Build::new(name, last_insert_id, Vec::new(), attr::bigint(21, true)).volatile().ok(),
        Some(e) => {
            let ty = attr::bigint(attr::char_len(&e.ty), true);
            Build::new(name, set_last_insert_id, vec![args::to_int(e)], ty).volatile().ok()
        }
    }
}

session_fn!(last_insert_id, |s| Value::UInt(s.last_insert_id()));

fn set_last_insert_id(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = args[0].eval(row, ctx)?;
    let id = args::int(&v) as u64;
    ctx.session().set_last_insert_id(id);
    Ok(if v.is_null() { Value::Null } else { Value::UInt(id) })
}

fn about(name: &'static str, eval: EvalFn, args: Vec<Expr>) -> SqlResult<Expr> {
    Build::new(name, eval, args, attr::text(64, SYSTEM)).nullable(false).strength(Coercibility::SysConst).ok()
}

/// The collation of an expression's text; that of numbers is binary here.
fn own_collation(e: &Expr) -> Collation {
    e.ty.collation().unwrap_or(Collation::BINARY)
}

fn charset_of(_: &Call, args: &[Expr], _: &[Value], _: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::text(own_collation(&args[0]).charset().name()))
}

fn collation_of(_: &Call, args: &[Expr], _: &[Value], _: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::text(own_collation(&args[0]).name()))
}

fn coercibility_of(_: &Call, args: &[Expr], _: &[Value], _: Ctx<'_>) -> SqlResult<Value> {
    let e = &args[0];
    let strength = match e.kind {
        _ if matches!(e.ty, SqlType::Null) => Coercibility::Ignorable,
        // Columns of numbers and dates count as numbers too.
        _ if e.ty.collation().is_none() => Coercibility::Numeric,
        _ => e.coercibility,
    };
    Ok(Value::Int(strength as i64))
}

fn benchmark(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let n = args::saturating_int(&arg!(args, 0, row, ctx));
    if n < 0 {
        ctx.diag().warn(sql_err!(ER_WRONG_VALUE_FOR_TYPE, "count", n, "benchmark"));
        return Ok(Value::Null);
    }
    for i in 0..n {
        if i % 1024 == 0 {
            ctx.check_killed()?;
        }
        args[1].eval(row, ctx)?;
    }
    Ok(Value::Int(0))
}

fn sleep(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = args[0].eval(row, ctx)?;
    let seconds = args::double(&v);
    if v.is_null() || seconds < 0.00001 {
        return Ok(Value::Int(0));
    }
    Ok(Value::bool(ctx.session().sleep(seconds)?))
}

fn bind_get_lock(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let args = args
        .into_iter()
        .enumerate()
        .map(|(i, e)| if i == 0 { collation::to_text(cx, e) } else { args::to_double(e) })
        .collect();
    Build::new(name, get_lock, args, SqlType::BOOL).nullable(true).volatile().ok()
}

fn lock_function(cx: &BindCtx, name: &'static str, eval: EvalFn, args: Vec<Expr>, ty: SqlType) -> SqlResult<Expr> {
    let args = args.into_iter().map(|e| collation::to_text(cx, e)).collect();
    Build::new(name, eval, args, ty).nullable(true).volatile().ok()
}

fn lock_name(v: &Value) -> Option<&str> {
    Some(args::str_of(bytes(v))).filter(|s| !s.is_empty())
}

fn get_lock(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (name, timeout) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    match lock_name(&name) {
        Some(n) => ctx.session().get_lock(n, args::double(&timeout)),
        None => Ok(Value::Null),
    }
}

fn release_lock(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let name = arg!(args, 0, row, ctx);
    match lock_name(&name) {
        Some(n) => ctx.session().release_lock(n),
        None => Ok(Value::Null),
    }
}

fn is_free_lock(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let name = arg!(args, 0, row, ctx);
    Ok(match lock_name(&name) {
        Some(n) => Value::bool(ctx.session().used_lock(n).is_none()),
        None => Value::Null,
    })
}

fn is_used_lock(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let name = arg!(args, 0, row, ctx);
    Ok(match lock_name(&name) {
        Some(n) => ctx.session().used_lock(n).map_or(Value::Null, |id| Value::Int(id as i64)),
        None => Value::Null,
    })
}

fn bind_name_const(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    match (it.next(), it.next()) {
        (Some(n), Some(mut v)) if matches!(n.kind, ExprKind::Const(_)) && matches!(v.kind, ExprKind::Const(_)) => {
            v.nullable = true;
            if v.ty.collation().is_some() {
                v.coercibility = Coercibility::Implicit;
            }
            Ok(v)
        }
        _ => Err(sql_err!(ER_WRONG_ARGUMENTS, name.to_uppercase())),
    }
}

fn load_file(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let path = arg!(args, 0, row, ctx);
    Ok(ctx.session().load_file(args::str_of(bytes(&path))).map_or(Value::Null, args::owned))
}

fn replication(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    Build::new(name, eval_replication, args, attr::bigint(21, false)).nullable(true).volatile().ok()
}

fn eval_replication(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let values = args.iter().map(|a| a.eval(row, ctx)).collect::<SqlResult<Vec<_>>>()?;
    ctx.session().replication_function(call.name, &values)
}

/// NEXTVAL, LASTVAL, SETVAL of a sequence whose database and name are the first two arguments.
fn sequence(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    Build::new(name, eval_sequence, args, attr::bigint(20, false)).nullable(true).volatile().ok()
}

fn eval_sequence(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (db, name) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    let (db, name) = (args::str_of(bytes(&db)), args::str_of(bytes(&name)));
    match call.name {
        "nextval" => ctx.session().sequence_next(db, name),
        "lastval" => ctx.session().sequence_last(db, name),
        _ => {
            let v = args::int(&arg!(args, 2, row, ctx));
            ctx.session().sequence_set(db, name, v)
        }
    }
}
