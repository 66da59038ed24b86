//! The functions of SQL: a registry by name, one family per file.
//!
//! A family file lists its functions as [`Def`]s: name, number of arguments, a binder that gives the typed call. An
//! evaluator finds its arguments already converted to the types that the binder asked for.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use selkie_types::{Collation, SqlResult, SqlType, Value, sql_err};

use crate::bind::BindCtx;
use crate::context::EvalContext;
use crate::ir::{Coercibility, Expr, ExprKind, ScalarFunction};

pub(crate) mod args;
pub(crate) mod arith;
pub(crate) mod control;
pub(crate) mod encoding;
mod hash;
mod info;
pub(crate) mod interval;
pub(crate) mod json;
pub(crate) mod math;
pub(crate) mod regexp;
pub(crate) mod string;
pub(crate) mod temporal;
pub(crate) mod temporal_parse;

/// Evaluates a bound call.
pub(crate) type EvalFn = fn(&Call, &[Expr], &[Value], &mut dyn EvalContext) -> SqlResult<Value>;

/// Binds a call by name.
pub(crate) type BindFn = fn(&BindCtx, &'static str, Vec<Expr>) -> SqlResult<Expr>;

/// Any number of arguments.
pub(crate) const MANY: usize = usize::MAX;

/// One function of the registry.
pub(crate) struct Def {
    /// Name in lower case.
    pub name: &'static str,
    /// Fewest arguments.
    pub min: usize,
    /// Most arguments.
    pub max: usize,
    /// Binder.
    pub bind: BindFn,
}

/// Shorthand for a table row.
pub(crate) const fn def(name: &'static str, min: usize, max: usize, bind: BindFn) -> Def {
    Def { name, min, max, bind }
}

/// A bound call: the evaluator and what it was bound to.
#[derive(Clone)]
pub(crate) struct Call {
    /// Name in lower case.
    pub name: &'static str,
    /// Evaluator.
    pub eval: EvalFn,
    /// Whether equal arguments give equal results within a statement.
    pub foldable: bool,
    /// Result type.
    pub ty: SqlType,
    /// Collation that texts are searched or compared by.
    pub collation: Collation,
    /// A variant that the binder chose (unit, sign, mode).
    pub mode: i64,
    /// Whatever the binder prepared (a compiled pattern).
    pub data: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

impl ScalarFunction for Call {
    fn name(&self) -> &str {
        self.name
    }
    fn eval(&self, args: &[Expr], row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Value> {
        (self.eval)(self, args, row, ctx)
    }
    fn is_foldable(&self) -> bool {
        self.foldable
    }
    fn literal(&self) -> Option<Value> {
        if self.name != args::HEX_HYBRID {
            return None;
        }
        self.data.as_ref().and_then(|d| d.downcast_ref::<Value>()).cloned()
    }
}

/// Builds a bound call.
pub(crate) struct Build {
    call: Call,
    args: Vec<Expr>,
    nullable: bool,
    strength: Coercibility,
}

impl Build {
    /// A call of type `ty`, nullable where an argument is.
    pub fn new(name: &'static str, eval: EvalFn, args: Vec<Expr>, ty: SqlType) -> Build {
        let nullable = args.iter().any(|a| a.nullable);
        let collation = ty.collation().unwrap_or(Collation::BINARY);
        let strength = if ty.collation().is_some() { Coercibility::Literal } else { Coercibility::Numeric };
        Build {
            call: Call { name, eval, foldable: true, ty, collation, mode: 0, data: None },
            args,
            nullable,
            strength,
        }
    }
    /// Whether the result may be NULL, where it is not as the arguments.
    pub fn nullable(mut self, nullable: bool) -> Build {
        self.nullable = nullable;
        self
    }
    /// Collation strength of the result.
    pub fn strength(mut self, strength: Coercibility) -> Build {
        self.strength = strength;
        self
    }
    /// The variant.
    pub fn mode(mut self, mode: i64) -> Build {
        self.call.mode = mode;
        self
    }
    /// The collation that the function works with.
    pub fn collation(mut self, collation: Collation) -> Build {
        self.call.collation = collation;
        self
    }
    /// Prepared data.
    pub fn data(mut self, data: Arc<dyn Any + Send + Sync>) -> Build {
        self.call.data = Some(data);
        self
    }
    /// Not the same each time.
    pub fn volatile(mut self) -> Build {
        self.call.foldable = false;
        self
    }
    /// The expression.
    pub fn build(self) -> Expr {
        let ty = self.call.ty.clone();
        Expr {
            kind: ExprKind::Call { function: Arc::new(self.call), args: self.args },
            ty,
            nullable: self.nullable,
            coercibility: self.strength,
        }
    }
    /// The expression as a result.
    pub fn ok(self) -> SqlResult<Expr> {
        Ok(self.build())
    }
}

fn registry() -> &'static HashMap<&'static str, &'static Def> {
    static REGISTRY: OnceLock<HashMap<&'static str, &'static Def>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let families: [&'static [Def]; 10] = [
            control::FUNCTIONS,
            math::FUNCTIONS,
            string::FUNCTIONS,
            encoding::FUNCTIONS,
            hash::FUNCTIONS,
            info::FUNCTIONS,
            regexp::FUNCTIONS,
            temporal::FUNCTIONS,
            interval::FUNCTIONS,
            json::FUNCTIONS,
        ];
        families.into_iter().flatten().map(|d| (d.name, d)).collect()
    })
}

/// Finds a function by its name in any case.
pub(crate) fn find(name: &str) -> Option<&'static Def> {
    let r = registry();
    r.get(name).or_else(|| r.get(name.to_ascii_lowercase().as_str())).copied()
}

/// The names of all functions, in no order.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    registry().keys().copied()
}

/// Binds a call: checks the number of arguments and lets the function bind them.
pub(crate) fn bind(cx: &BindCtx, name: &str, args: Vec<Expr>) -> SqlResult<Expr> {
    let Some(def) = find(name) else {
        let full = match &cx.database {
            Some(db) => format!("{db}.{name}"),
            None => name.to_string(),
        };
        return Err(sql_err!(ER_SP_DOES_NOT_EXIST, "FUNCTION", full));
    };
    if args.len() < def.min || args.len() > def.max {
        return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name));
    }
    (def.bind)(cx, def.name, args)
}
