//! Whatever the arguments, binding and evaluating give a value or an error.

mod support;

use std::sync::Arc;

use proptest::prelude::*;
use selkie_expr::bind::*;
use selkie_expr::{CmpOp, Expr};
use selkie_types::{Collation, Date, DateTime, Decimal, SqlType, Time, Value};
use support::Context;

/// Functions that take their time on purpose.
const SLOW: &[&str] = &["benchmark", "sleep"];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "[0-9:. -]{0,24}",
        r#"[\[\]{}",:0-9a-c\\ tfn]{0,20}"#,
        r"\$[.\[\]0-9a-c*lt -]{0,10}",
        "[%a-zA-Z ]{0,10}",
        "[a-c()*+?|.\\[\\]^$\\\\]{0,8}",
        Just("2024-02-29 10:11:12.5".to_string()),
        Just("{\"a\": [1, {\"b\": null}]}".to_string()),
    ]
}

fn constant() -> impl Strategy<Value = Expr> {
    let int = prop_oneof![any::<i64>(), -5i64..300, Just(i64::MIN), Just(i64::MAX)];
    prop_oneof![
        int.prop_map(|i| Expr::constant(Value::Int(i), SqlType::BIGINT)),
        any::<u64>().prop_map(|u| Expr::constant(Value::UInt(u), SqlType::BIGINT_UNSIGNED)),
        any::<f64>()
            .prop_filter("finite", |d| d.is_finite())
            .prop_map(|d| Expr::constant(Value::Double(d), SqlType::DOUBLE)),
        (any::<i64>(), 0u8..20).prop_map(|(m, s)| {
            let ty = SqlType::Decimal { precision: 40, scale: s, unsigned: false, zerofill: false };
            Expr::constant(Value::Decimal(Decimal::from_mantissa(m as i128, s)), ty)
        }),
        text().prop_map(|t| literal_text(&BindCtx::default(), &t, None)),
        text().prop_map(|t| literal_text(&BindCtx::default(), &t, Some(Collation::UTF8MB4_BIN))),
        proptest::collection::vec(any::<u8>(), 0..20).prop_map(|b| literal_binary(&b)),
        proptest::collection::vec(any::<u8>(), 0..9).prop_map(|b| literal_hex_hybrid(&b)),
        (0u32..10000, 0u32..13, 0u32..32)
            .prop_map(|(y, m, d)| Expr::constant(Value::Date(Date::new(y, m, d)), SqlType::Date)),
        (-3_020_399_999_999i64..3_020_399_999_999)
            .prop_map(|t| Expr::constant(Value::Time(Time(t)), SqlType::Time { fsp: 6 })),
        (0u32..10000, 0u32..13, 0u32..32, 0u64..86_400_000_000).prop_map(|(y, m, d, t)| {
            Expr::constant(Value::DateTime(DateTime::new(Date::new(y, m, d), t)), SqlType::DateTime { fsp: 6 })
        }),
        Just(literal_null()),
        any::<bool>().prop_map(literal_bool),
        (0usize..32).prop_map(|i| {
            let c = support::columns().swap_remove(i);
            Expr::column(i, c.1, c.2)
        }),
    ]
}

fn row() -> Arc<Vec<Value>> {
    Arc::new(support::columns().into_iter().map(|c| c.3).collect())
}

fn context() -> Context {
    Context::with_packet(1 << 16)
}

/// Evaluates, folded and not; the text of the result is made as well.
fn run(e: Expr) {
    let row = row();
    let mut ctx = context();
    if let Ok(v) = e.eval(&row, &mut ctx) {
        support::show_value(&v, &e.ty);
    }
    let _ = e.eval_bool(&row, &mut ctx);
    if let Ok(f) = fold(e, &mut ctx) {
        let _ = f.eval(&row, &mut ctx);
    }
}

fn unit() -> impl Strategy<Value = IntervalUnit> {
    prop_oneof![
        Just(IntervalUnit::Microsecond),
        Just(IntervalUnit::Second),
        Just(IntervalUnit::Day),
        Just(IntervalUnit::Month),
        Just(IntervalUnit::Year),
        Just(IntervalUnit::Quarter),
        Just(IntervalUnit::DayMicrosecond),
        Just(IntervalUnit::YearMonth),
        Just(IntervalUnit::HourMinute),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn functions(index in any::<prop::sample::Index>(), args in proptest::collection::vec(constant(), 0..5)) {
        let names = function_names();
        let name = names[index.index(names.len())];
        if !SLOW.contains(&name) && let Ok(e) = bind_function(&BindCtx::default(), name, args) {
            run(e);
        }
    }

    #[test]
    fn operators(l in constant(), r in constant(), x in constant(), op in 0usize..12, c in 0usize..7, u in unit()) {
        let cx = BindCtx::default();
        let ops = [
            BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::IntDiv, BinaryOp::Mod, BinaryOp::BitAnd,
            BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::ShiftLeft, BinaryOp::ShiftRight, BinaryOp::Concat,
        ];
        let cmps = [CmpOp::Eq, CmpOp::NullSafeEq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
        let results = [
            bind_binary(&cx, ops[op], l.clone(), r.clone()),
            bind_compare(&cx, cmps[c], l.clone(), r.clone()),
            bind_between(&cx, l.clone(), r.clone(), x.clone(), op % 2 == 0),
            bind_in_list(&cx, l.clone(), vec![r.clone(), x.clone()], op % 2 == 0),
            bind_like(&cx, l.clone(), r.clone(), None, false),
            bind_regexp(&cx, l.clone(), r.clone(), false),
            bind_case(&cx, Some(l.clone()), vec![(r.clone(), x.clone())], Some(l.clone())),
            bind_unary(&cx, UnaryOp::Neg, l.clone()),
            bind_unary(&cx, UnaryOp::BitNot, l.clone()),
            bind_interval(&cx, op % 2 == 0, l.clone(), r.clone(), u),
            bind_extract(&cx, u, l.clone()),
            bind_timestampdiff(&cx, u, l.clone(), r.clone()),
            bind_trim(&cx, TrimSide::Both, Some(l.clone()), r.clone()),
            bind_weight_string(&cx, l.clone(), Some(op as u32), false),
            bind_row_compare(&cx, cmps[c], vec![l.clone(), r.clone()], vec![x.clone(), l]),
        ];
        for e in results.into_iter().flatten() {
            run(e);
        }
    }

    #[test]
    fn casts(e in constant(), n in 0u32..40, s in 0u8..7) {
        let cx = BindCtx::default();
        let targets = [
            CastTarget::Signed, CastTarget::Unsigned, CastTarget::Binary(Some(n)), CastTarget::Binary(None),
            CastTarget::Char(Some(n), None), CastTarget::Char(None, Some(Collation::LATIN1_SWEDISH_CI)),
            CastTarget::Decimal(n as u8 + 1, s.min(n as u8)), CastTarget::Double(None), CastTarget::Float, CastTarget::Date,
            CastTarget::Time(s), CastTarget::DateTime(s),
        ];
        for t in targets {
            if let Ok(c) = bind_cast(&cx, e.clone(), t) {
                run(c);
            }
        }
    }

    #[test]
    fn aggregates(
        index in 0usize..19,
        values in proptest::collection::vec(constant(), 1..6),
    ) {
        let names = [
            "any_value", "avg", "bit_and", "bit_or", "bit_xor", "count", "group_concat", "json_arrayagg", "json_objectagg",
            "max", "min", "std", "stddev", "stddev_pop", "stddev_samp", "sum", "var_pop", "var_samp", "variance",
        ];
        prop_assert!(is_aggregate_name(names[index]));
        let args = if names[index] == "json_objectagg" { vec![values[0].clone(), values[0].clone()] } else { vec![values[0].clone()] };
        if let Ok(call) = bind_aggregate(&BindCtx::default(), names[index], false, args, Vec::new(), None, None) {
            let mut ctx = context();
            let row = row();
            let mut state = call.function.accumulator();
            for _ in 0..3 {
                let args: Result<Vec<Value>, _> = call.args.iter().map(|a| a.eval(&row, &mut ctx)).collect();
                if let Ok(args) = args {
                    let _ = state.update(&args, &mut ctx);
                }
            }
            if let Ok(v) = state.finish(&mut ctx) {
                support::show_value(&v, &call.ty);
            }
        }
    }
}
