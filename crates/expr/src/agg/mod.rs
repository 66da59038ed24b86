//! Aggregate and window functions: binding here, accumulators in the files below.

mod concat;
mod json;
mod numeric;
mod simple;

use selkie_types::{Collation, SqlResult, SqlType, sql_err};

use crate::bind::attr::{self, Family};
use crate::bind::{BindCtx, WindowSpec, collation};
use crate::func::args;
use crate::func::arith::{numeric_family, to_bits, to_number};
use crate::ir::{
    AggregateCall, AggregateFunction, Expr, FrameBound, FrameUnit, RankFunction, SortKey, WindowCall, WindowFunction,
};
use std::sync::Arc;

const NAMES: &[&str] = &[
    "any_value",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "count",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "min",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];

const WINDOW_ONLY: &[(&str, RankFunction)] = &[
    ("cume_dist", RankFunction::CumeDist),
    ("dense_rank", RankFunction::DenseRank),
    ("first_value", RankFunction::FirstValue),
    ("lag", RankFunction::Lag),
    ("last_value", RankFunction::LastValue),
    ("lead", RankFunction::Lead),
    ("median", RankFunction::Median),
    ("nth_value", RankFunction::NthValue),
    ("ntile", RankFunction::Ntile),
    ("percent_rank", RankFunction::PercentRank),
    ("percentile_cont", RankFunction::PercentileCont),
    ("percentile_disc", RankFunction::PercentileDisc),
    ("rank", RankFunction::Rank),
    ("row_number", RankFunction::RowNumber),
];

/// Whether a name (any case) is an aggregate function.
pub fn is_aggregate_name(name: &str) -> bool {
    NAMES.iter().any(|n| n.eq_ignore_ascii_case(name))
}

/// Whether a name (any case) is a function that exists only with OVER.
pub fn is_window_only_name(name: &str) -> bool {
    rank_function(name).is_some()
}

fn rank_function(name: &str) -> Option<RankFunction> {
    WINDOW_ONLY.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, f)| *f)
}

fn wrong_count<T>(name: &str) -> SqlResult<T> {
    Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name))
}

fn one(args: Vec<Expr>, name: &str) -> SqlResult<Expr> {
    match <[Expr; 1]>::try_from(args) {
        Ok([e]) => Ok(e),
        Err(_) => wrong_count(name),
    }
}

/// What an aggregate's binder gives: function, converted arguments, type, nullability.
type Bound = (Arc<dyn AggregateFunction>, Vec<Expr>, SqlType, bool);

/// An aggregate call. COUNT(*) has no arguments. `separator` is GROUP_CONCAT's (default `,`); `limit` is (offset, count) of
/// GROUP_CONCAT and JSON_ARRAYAGG.
pub fn bind_aggregate(
    cx: &BindCtx,
    name: &str,
    distinct: bool,
    args: Vec<Expr>,
    order_by: Vec<SortKey>,
    separator: Option<&str>,
    limit: Option<(u64, u64)>,
) -> SqlResult<AggregateCall> {
    let name = name.to_ascii_lowercase();
    let (function, args, ty, nullable): Bound = match name.as_str() {
        "count" => (Arc::new(simple::Count), args, attr::bigint(21, false), false),
        "sum" => bind_sum(one(args, &name)?),
        "avg" => bind_avg(cx, one(args, &name)?),
        "min" | "max" => {
            let e = one(args, &name)?;
            let ty = match &e.ty {
                SqlType::Int { display, unsigned, .. } if matches!(e.kind, crate::ir::ExprKind::Const(_)) => {
                    attr::bigint(*display as u32, *unsigned)
                }
                t => t.clone(),
            };
            let f = simple::Extreme {
                max: name == "max",
                collation: e.ty.collation(),
                by_text: matches!(e.ty, SqlType::Enum(_) | SqlType::Set(_)).then(|| e.ty.clone()),
            };
            (Arc::new(f), vec![e], ty, true)
        }
        "any_value" => {
            let e = one(args, &name)?;
            let ty = e.ty.clone();
            (Arc::new(simple::AnyValue), vec![e], ty, true)
        }
        "bit_and" | "bit_or" | "bit_xor" => {
            let op = match name.as_str() {
                "bit_and" => simple::BitOp::And,
                "bit_or" => simple::BitOp::Or,
                _ => simple::BitOp::Xor,
            };
            (Arc::new(simple::Bits(op)), vec![to_bits(one(args, &name)?)], attr::bigint(21, true), false)
        }
        "std" | "stddev" | "stddev_pop" | "stddev_samp" | "variance" | "var_pop" | "var_samp" => {
            bind_variance(cx, &name, one(args, &name)?)
        }
        "group_concat" => {
            if args.is_empty() {
                return wrong_count(&name);
            }
            concat::bind(cx, args, separator.unwrap_or(","), limit)?
        }
        "json_arrayagg" => json::bind_array(cx, one(args, &name)?, limit)?,
        "json_objectagg" => match <[Expr; 2]>::try_from(args) {
            Ok([k, v]) => json::bind_object(cx, k, v)?,
            Err(_) => return wrong_count(&name),
        },
        _ => return Err(sql_err!(ER_SP_DOES_NOT_EXIST, "FUNCTION", name)),
    };
    Ok(AggregateCall { function, args, distinct, order_by, ty, nullable })
}

fn bind_sum(e: Expr) -> Bound {
    let e = args::hex_number(&e).unwrap_or(e);
    match numeric_family(&e) {
        Family::Real => {
            let ty = attr::double(attr::expr_decimals(&e));
            (Arc::new(numeric::SumReal), vec![args::to_double(e)], ty, true)
        }
        Family::Int => {
            let ty = attr::decimal((attr::precision(&e) + 22).min(attr::MAX_PRECISION), 0, false);
            (Arc::new(numeric::SumInt), vec![to_number(e)], ty, true)
        }
        _ => {
            let scale = attr::scale(&e);
            let ty = attr::decimal((attr::precision(&e) + 22).min(attr::MAX_PRECISION), scale, false);
            (Arc::new(numeric::SumDecimal { scale: scale as u8 }), vec![args::to_decimal(e)], ty, true)
        }
    }
}

fn bind_avg(cx: &BindCtx, e: Expr) -> Bound {
    let e = args::hex_number(&e).unwrap_or(e);
    let increment = cx.div_precision_increment as u32;
    match numeric_family(&e) {
        Family::Real => {
            let decimals = attr::expr_decimals(&e);
            let ty = if decimals < attr::NOT_FIXED {
                attr::double_len(attr::char_len(&e.ty).saturating_add(increment), decimals + increment)
            } else {
                SqlType::DOUBLE
            };
            (Arc::new(numeric::AvgReal), vec![args::to_double(e)], ty, true)
        }
        family => {
            let scale = (attr::scale(&e) + increment).min(attr::MAX_SCALE);
            let precision = (attr::precision(&e) + increment).min(attr::MAX_PRECISION);
            let f = numeric::AvgExact { scale: scale as u8, increment: increment as u8 };
            let e = if family == Family::Int { to_number(e) } else { args::to_decimal(e) };
            (Arc::new(f), vec![e], attr::decimal(precision, scale, false), true)
        }
    }
}

fn bind_variance(cx: &BindCtx, name: &str, e: Expr) -> Bound {
    let e = args::hex_number(&e).unwrap_or(e);
    let increment = cx.div_precision_increment as u32;
    let decimals = attr::expr_decimals(&e);
    let ty = match numeric_family(&e) {
        Family::Real if decimals >= attr::NOT_FIXED => SqlType::DOUBLE,
        Family::Real => attr::double_len(17 + decimals, decimals + increment),
        _ => attr::double_len(attr::precision(&e) * 2 + increment + 2, (decimals + increment).min(attr::MAX_SCALE - 8)),
    };
    let root = name.starts_with("std");
    let sample = name.ends_with("_samp");
    (Arc::new(numeric::Variance { root, sample }), vec![args::to_double(e)], ty, true)
}

/// A ranking or navigation function or an aggregate with OVER. `within_group` is that of PERCENTILE_CONT and _DISC.
pub fn bind_window(
    cx: &BindCtx,
    name: &str,
    distinct: bool,
    args: Vec<Expr>,
    within_group: Option<SortKey>,
    spec: WindowSpec,
) -> SqlResult<WindowCall> {
    let WindowSpec { partition_by, mut order_by, frame } = spec;
    let default_frame = if order_by.is_empty() {
        (FrameUnit::Rows, FrameBound::UnboundedPreceding, FrameBound::UnboundedFollowing)
    } else {
        (FrameUnit::Range, FrameBound::UnboundedPreceding, FrameBound::CurrentRow)
    };
    let frame = frame.unwrap_or(default_frame);
    let Some(rank) = rank_function(name) else {
        if distinct {
            return Err(sql_err!(
                ER_NOT_SUPPORTED_YET,
                format!("{}(DISTINCT) aggregate as window function", name.to_ascii_uppercase())
            ));
        }
        let call = bind_aggregate(cx, name, false, args, Vec::new(), None, None)?;
        let (ty, nullable) = (call.ty.clone(), call.nullable);
        let function = WindowFunction::Aggregate(call);
        return Ok(WindowCall { function, partition_by, order_by, frame, ty, nullable });
    };
    let expected = match rank {
        RankFunction::RowNumber
        | RankFunction::Rank
        | RankFunction::DenseRank
        | RankFunction::PercentRank
        | RankFunction::CumeDist => 0..=0,
        RankFunction::Lag | RankFunction::Lead => 1..=3,
        RankFunction::NthValue => 2..=2,
        _ => 1..=1,
    };
    if !expected.contains(&args.len()) {
        return wrong_count(name);
    }
    if matches!(
        rank,
        RankFunction::Rank
            | RankFunction::DenseRank
            | RankFunction::PercentRank
            | RankFunction::CumeDist
            | RankFunction::Lag
            | RankFunction::Lead
            | RankFunction::Ntile
    ) && order_by.is_empty()
        && !matches!(rank, RankFunction::Ntile)
    {
        return Err(sql_err!(ER_NO_ORDER_LIST_IN_WINDOW_SPEC, name.to_ascii_lowercase()));
    }
    let (ty, nullable, args) = match rank {
        RankFunction::RowNumber | RankFunction::Rank | RankFunction::DenseRank => {
            (attr::bigint(21, false), false, args)
        }
        RankFunction::Ntile => (attr::bigint(21, false), false, args.into_iter().map(args::to_int).collect()),
        RankFunction::PercentRank | RankFunction::CumeDist => (attr::double_len(17, 10), true, args),
        RankFunction::Median | RankFunction::PercentileCont => {
            let args = match within_group {
                Some(key) => {
                    order_by = vec![SortKey { expr: args::to_double(key.expr), descending: key.descending }];
                    args.into_iter().map(args::to_double).collect()
                }
                None => {
                    let values: Vec<Expr> = args.into_iter().map(args::to_double).collect();
                    order_by = values.iter().map(|e| SortKey { expr: e.clone(), descending: false }).collect();
                    values
                }
            };
            (attr::double_len(18, 10), true, args)
        }
        RankFunction::PercentileDisc => match within_group {
            Some(key) => {
                let ty = key.expr.ty.clone();
                order_by = vec![key];
                (ty, true, args.into_iter().map(args::to_double).collect())
            }
            None => return wrong_count(name),
        },
        RankFunction::Lag | RankFunction::Lead | RankFunction::NthValue => {
            let ty = args[0].ty.clone();
            let args = args
                .into_iter()
                .enumerate()
                .map(|(i, a)| match i {
                    1 => args::to_int(a),
                    2 => a.cast_to(&ty),
                    _ => a,
                })
                .collect();
            (ty, true, args)
        }
        RankFunction::FirstValue | RankFunction::LastValue => (args[0].ty.clone(), true, args),
    };
    Ok(WindowCall { function: WindowFunction::Rank(rank, args), partition_by, order_by, frame, ty, nullable })
}

/// Operands of a text aggregate in one collation.
fn text_args(cx: &BindCtx, name: &str, args: Vec<Expr>) -> SqlResult<(Vec<Expr>, Collation)> {
    let operands: Vec<&Expr> = args.iter().collect();
    let c = collation::for_result(cx, name, &operands)?.collation;
    Ok((args.into_iter().map(|e| collation::convert(cx, e, c)).collect(), c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_types::IntWidth;

    fn window(name: &str, args: Vec<Expr>) -> SqlResult<WindowCall> {
        let key = SortKey { expr: column(), descending: false };
        let spec = WindowSpec { partition_by: Vec::new(), order_by: vec![key], frame: None };
        bind_window(&BindCtx::default(), name, false, args, None, spec)
    }

    fn column() -> Expr {
        Expr::column(0, attr::int(IntWidth::Int, 11, false), false)
    }

    #[test]
    fn window_functions_have_mariadbs_types() {
        let rank = window("RANK", Vec::new()).unwrap();
        assert_eq!((rank.ty, rank.nullable), (attr::bigint(21, false), false));
        let share = window("percent_rank", Vec::new()).unwrap();
        assert_eq!(share.ty, attr::double_len(17, 10));
        let lag = window("lag", vec![column()]).unwrap();
        assert_eq!((lag.ty, lag.nullable), (column().ty, true));
        let sum = window("sum", vec![column()]).unwrap();
        assert_eq!(sum.ty, attr::decimal(32, 0, false));
        assert!(matches!(sum.frame, (FrameUnit::Range, FrameBound::UnboundedPreceding, FrameBound::CurrentRow)));
        assert_eq!(window("ntile", Vec::new()).unwrap_err().code(), 1582);
    }

    #[test]
    fn names_in_any_case() {
        assert!(is_aggregate_name("Group_Concat") && !is_aggregate_name("concat"));
        assert!(is_window_only_name("ROW_NUMBER") && !is_window_only_name("sum"));
    }
}
