//! How an expression reads in an error message.

use selkie_types::{SqlType, Value, convert};

use crate::ir::{CmpOp, Expr, ExprKind};

/// The sign of a comparison.
pub(crate) fn cmp_symbol(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "=",
        CmpOp::NullSafeEq => "<=>",
        CmpOp::Ne => "<>",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
    }
}

/// Column names by slot.
type Names<'a> = &'a dyn Fn(usize) -> Option<String>;

fn constant(v: &Value, ty: &SqlType) -> String {
    match v {
        Value::Null => "NULL".into(),
        v => {
            let mut out = Vec::new();
            convert::write_text(v, ty, &mut out);
            let text = String::from_utf8_lossy(&out);
            if ty.is_numeric() { text.into_owned() } else { format!("'{text}'") }
        }
    }
}

/// The expression as text, near to how it was written; columns are shown by their slot.
pub(crate) fn describe(e: &Expr) -> String {
    describe_with(e, &|_| None)
}

/// The expression as text with the names of its columns, where they are known.
pub(crate) fn describe_with(e: &Expr, names: Names<'_>) -> String {
    let describe = |e: &Expr| describe_with(e, names);
    let list = |es: &[Expr]| es.iter().map(describe).collect::<Vec<_>>().join(",");
    match &e.kind {
        ExprKind::Const(v) => constant(v, &e.ty),
        ExprKind::Column(n) | ExprKind::InsertedColumn(n) => names(*n).unwrap_or_else(|| format!("column#{n}")),
        ExprKind::Correlated(n) => format!("outer#{n}"),
        ExprKind::Param(_) => "?".into(),
        ExprKind::UserVar(n) => format!("@{n}"),
        ExprKind::SetUserVar(n, e) => format!("@{n}:={}", describe(e)),
        ExprKind::SystemVar(_, n) => format!("@@{n}"),
        ExprKind::Cast(e) => describe(e),
        ExprKind::Not(e) => format!("not({})", describe(e)),
        ExprKind::And(es) => format!("({})", es.iter().map(describe).collect::<Vec<_>>().join(" and ")),
        ExprKind::Or(es) => format!("({})", es.iter().map(describe).collect::<Vec<_>>().join(" or ")),
        ExprKind::Compare { op, left, right, .. } => {
            format!("{} {} {}", describe(left), cmp_symbol(*op), describe(right))
        }
        ExprKind::Between { expr, low, high, .. } => {
            format!("{} between {} and {}", describe(expr), describe(low), describe(high))
        }
        ExprKind::InList { expr, list: l, .. } => format!("{} in ({})", describe(expr), list(l)),
        ExprKind::IsNull { expr, .. } => format!("{} is null", describe(expr)),
        ExprKind::IsBool { expr, .. } => format!("{} is true", describe(expr)),
        ExprKind::Like { expr, pattern, .. } => format!("{} like {}", describe(expr), describe(pattern)),
        ExprKind::Case { .. } => "case".into(),
        ExprKind::Call { function, args } => match (function.name(), args.as_slice()) {
            (n, [a, b]) if !n.starts_with(|c: char| c.is_ascii_lowercase()) => {
                format!("({} {n} {})", describe(a), describe(b))
            }
            (n, [a]) if !n.starts_with(|c: char| c.is_ascii_lowercase()) => format!("{n}{}", describe(a)),
            (n, args) => format!("{n}({})", list(args)),
        },
        ExprKind::Subquery(_) => "(subquery)".into(),
    }
}
