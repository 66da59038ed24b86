//! Evaluation: a bound expression and a row to a value.
//!
//! No type is guessed here; what binding left to do stands in the tree. It must not know plans.

mod cast;
mod compare;
mod fold;
mod subquery;

pub use compare::ValueCompare;
pub(crate) use fold::date_constant;
pub use fold::{fold, is_constant};

use selkie_types::{SqlResult, SqlType, Value};

use crate::context::EvalContext;
use crate::ir::{CmpOp, Expr, ExprKind};

/// TRUE, FALSE or NULL as a value.
fn truth(b: Option<bool>) -> Value {
    match b {
        Some(b) => Value::Int(b as i64),
        None => Value::Null,
    }
}

/// Whether a value counts as true; `None` for NULL.
pub(crate) fn is_true(v: &Value) -> Option<bool> {
    Some(match v {
        Value::Null => return None,
        Value::Int(i) => *i != 0,
        Value::UInt(u) => *u != 0,
        Value::Double(d) => *d != 0.0,
        Value::Decimal(d) => !d.is_zero(),
        Value::Date(d) => !d.is_zero(),
        Value::Time(t) => t.0 != 0,
        Value::DateTime(d) => d.0 != 0,
        Value::Bytes(b) => selkie_types::Decimal::parse_prefix(b).value != selkie_types::Decimal::ZERO,
    })
}

impl Expr {
    /// The value for one row.
    ///
    /// Errors are those that MariaDB raises while evaluating (1690 out of range, 1242 more than one row, …); bad data
    /// becomes NULL or an adjusted value with a warning in the context's diagnostics.
    pub fn eval(&self, row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Value> {
        Ok(match &self.kind {
            ExprKind::Column(slot) | ExprKind::InsertedColumn(slot) => row.get(*slot).cloned().unwrap_or_default(),
            ExprKind::Const(v) => v.clone(),
            ExprKind::Call { function, args } => return function.eval(args, row, ctx),
            ExprKind::Cast(e) => {
                return cast::eval(e, &self.ty, row, ctx);
            }
            ExprKind::Param(n) => {
                let v = ctx.params().get(*n).cloned().unwrap_or_default();
                return param(v, &self.ty, ctx);
            }
            ExprKind::Correlated(n) => ctx.correlated().get(*n).cloned().unwrap_or_default(),
            ExprKind::Case { whens, otherwise } => {
                for (when, result) in whens {
                    if when.eval_bool(row, ctx)? == Some(true) {
                        return result.eval(row, ctx);
                    }
                }
                match otherwise {
                    Some(e) => return e.eval(row, ctx),
                    None => Value::Null,
                }
            }
            ExprKind::UserVar(name) => match ctx.user_var(name) {
                Some((v, ty)) => return cast::cast(v, &ty, &self.ty, ctx),
                None => Value::Null,
            },
            ExprKind::SetUserVar(name, e) => {
                let v = e.eval(row, ctx)?;
                ctx.set_user_var(name, v.clone(), e.ty.clone());
                v
            }
            ExprKind::SystemVar(scope, name) => return ctx.system_var(*scope, name),
            ExprKind::Subquery(s) => return subquery::eval(s, row, ctx),
            _ => truth(self.eval_bool(row, ctx)?),
        })
    }

    /// The truth value for one row; `None` is UNKNOWN. AND and OR stop at the first operand that decides.
    pub fn eval_bool(&self, row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Option<bool>> {
        match &self.kind {
            ExprKind::Compare { op, left, right, collation } => {
                compare_exprs(*op, left, right, ValueCompare::new(*collation), row, ctx)
            }
            ExprKind::And(es) => {
                let mut result = Some(true);
                for e in es {
                    match e.eval_bool(row, ctx)? {
                        Some(false) => return Ok(Some(false)),
                        Some(true) => {}
                        None => result = None,
                    }
                }
                Ok(result)
            }
            ExprKind::Or(es) => {
                let mut result = Some(false);
                for e in es {
                    match e.eval_bool(row, ctx)? {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => result = None,
                    }
                }
                Ok(result)
            }
            ExprKind::Not(e) => Ok(e.eval_bool(row, ctx)?.map(|b| !b)),
            ExprKind::IsNull { expr, negated } => {
                let null = match &expr.kind {
                    ExprKind::Column(slot) => row.get(*slot).is_none_or(Value::is_null),
                    _ => expr.eval(row, ctx)?.is_null(),
                };
                Ok(Some(null != *negated))
            }
            ExprKind::IsBool { expr, value, negated } => {
                let b = expr.eval_bool(row, ctx)? == Some(*value);
                Ok(Some(b != *negated))
            }
            ExprKind::Between { expr, low, high, negated, collation } => {
                let by = ValueCompare::new(*collation);
                let v = expr.eval(row, ctx)?;
                if v.is_null() {
                    return Ok(None);
                }
                let above = by.test(CmpOp::Ge, &v, &low.eval(row, ctx)?);
                if above == Some(false) {
                    return Ok(Some(*negated));
                }
                let below = by.test(CmpOp::Le, &v, &high.eval(row, ctx)?);
                Ok(match (above, below) {
                    (_, Some(false)) => Some(*negated),
                    (Some(true), Some(true)) => Some(!*negated),
                    _ => None,
                })
            }
            ExprKind::InList { expr, list, negated, collation } => {
                let by = ValueCompare::new(*collation);
                let v = expr.eval(row, ctx)?;
                if v.is_null() {
                    return Ok(None);
                }
                let mut unknown = false;
                for member in list {
                    let found = match &member.kind {
                        ExprKind::Const(m) => by.test(CmpOp::Eq, &v, m),
                        _ => by.test(CmpOp::Eq, &v, &member.eval(row, ctx)?),
                    };
                    match found {
                        Some(true) => return Ok(Some(!*negated)),
                        Some(false) => {}
                        None => unknown = true,
                    }
                }
                Ok(if unknown { None } else { Some(*negated) })
            }
            ExprKind::Like { expr, pattern, escape, negated, collation } => {
                let v = expr.eval(row, ctx)?;
                let p = pattern.eval(row, ctx)?;
                match (&v, &p) {
                    (Value::Bytes(v), Value::Bytes(p)) => Ok(Some(collation.like(v, p, *escape) != *negated)),
                    _ => Ok(None),
                }
            }
            _ => {
                let v = self.eval(row, ctx)?;
                Ok(is_true(&v))
            }
        }
    }
}

/// An operand without cloning what already lies somewhere.
enum Operand<'a> {
    Borrowed(&'a Value),
    Owned(Value),
}

impl Operand<'_> {
    fn get(&self) -> &Value {
        match self {
            Operand::Borrowed(v) => v,
            Operand::Owned(v) => v,
        }
    }
}

fn operand<'a>(e: &'a Expr, row: &'a [Value], ctx: &mut dyn EvalContext) -> SqlResult<Operand<'a>> {
    Ok(match &e.kind {
        ExprKind::Column(slot) => match row.get(*slot) {
            Some(v) => Operand::Borrowed(v),
            None => Operand::Owned(Value::Null),
        },
        ExprKind::Const(v) => Operand::Borrowed(v),
        _ => Operand::Owned(e.eval(row, ctx)?),
    })
}

fn compare_exprs(
    op: CmpOp,
    left: &Expr,
    right: &Expr,
    by: ValueCompare,
    row: &[Value],
    ctx: &mut dyn EvalContext,
) -> SqlResult<Option<bool>> {
    let l = operand(left, row, ctx)?;
    if op != CmpOp::NullSafeEq && l.get().is_null() {
        return Ok(None);
    }
    let r = operand(right, row, ctx)?;
    Ok(by.test(op, l.get(), r.get()))
}

/// Whether a value has the variant that a type's values have.
fn has_variant_of(v: &Value, ty: &SqlType) -> bool {
    matches!(
        (v, ty),
        (Value::Null, _)
            | (Value::Int(_) | Value::UInt(_), SqlType::Int { .. } | SqlType::Year(_))
            | (Value::UInt(_), SqlType::Bit(_) | SqlType::Enum(_) | SqlType::Set(_))
            | (Value::Double(_), SqlType::Double { .. } | SqlType::Float { .. })
            | (Value::Decimal(_), SqlType::Decimal { .. })
            | (Value::Bytes(_), SqlType::Text { .. })
            | (Value::Date(_), SqlType::Date)
            | (Value::Time(_), SqlType::Time { .. })
            | (Value::DateTime(_), SqlType::DateTime { .. } | SqlType::Timestamp { .. })
            | (_, SqlType::Null)
    )
}

/// The type that a value of unknown origin is taken to have.
fn natural_type(v: &Value, settings_collation: selkie_types::Collation) -> SqlType {
    match v {
        Value::Null => SqlType::Null,
        Value::Int(_) => SqlType::BIGINT,
        Value::UInt(_) => SqlType::BIGINT_UNSIGNED,
        Value::Double(_) => SqlType::DOUBLE,
        Value::Decimal(d) => crate::bind::attr::decimal(d.precision().into(), d.scale().into(), false),
        Value::Bytes(b) => crate::bind::attr::text(b.len() as u64, settings_collation),
        Value::Date(_) => SqlType::Date,
        Value::Time(_) => SqlType::Time { fsp: 6 },
        Value::DateTime(_) => SqlType::DateTime { fsp: 6 },
    }
}

fn param(v: Value, ty: &SqlType, ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    if has_variant_of(&v, ty) {
        return Ok(v);
    }
    let from = natural_type(&v, ctx.settings().collation_connection);
    cast::cast(v, &from, ty, ctx)
}
