//! Conversions: the common ones here, everything else by [`selkie_types::convert`].

use selkie_types::{Decimal, SqlResult, SqlType, Value, convert};

use crate::context::EvalContext;

/// Converts a value of type `from` to type `to`.
pub(crate) fn cast(v: Value, from: &SqlType, to: &SqlType, ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    Ok(match (v, to) {
        (Value::Null, _) => Value::Null,
        (v, SqlType::Null) => v,
        (Value::Int(i), SqlType::Double { digits: None, .. }) if !matches!(from, SqlType::Enum(_) | SqlType::Set(_)) => {
            Value::Double(i as f64)
        }
        (Value::Int(i), SqlType::Decimal { scale: 0, precision: 20.., .. }) => Value::Decimal(Decimal::from(i)),
        // The display width of an expression's integer type does not bound it.
        (v, SqlType::Int { unsigned, .. }) => {
            let wide = if *unsigned { &SqlType::BIGINT_UNSIGNED } else { &SqlType::BIGINT };
            return convert::cast(v, from, wide, &mut ctx.convert());
        }
        (v, SqlType::Decimal { precision: 65, scale: 38, .. }) => {
            Value::Decimal(convert::to_decimal(&v, from, &mut ctx.convert()))
        }
        (v, to) => {
            let mut c = ctx.convert();
            return convert::cast(v, from, to, &mut c);
        }
    })
}
