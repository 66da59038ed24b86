//! Expressions as text.

use super::{Printer, charset_name};
use crate::ast::{
    BinaryOp, CastType, ColumnRef, Expr, FunctionCall, GetFormatKind, IntervalUnit, Literal,
    MatchMode, Quantifier, Query, SetExpr, TruthValue, UnaryOp, VarScope,
};

/// How tightly what an expression shows as binds; the parser's levels.
pub(super) mod level {
    pub(in crate::display) const ASSIGN: u8 = 0;
    pub(in crate::display) const OR: u8 = 1;
    pub(in crate::display) const XOR: u8 = 2;
    pub(in crate::display) const AND: u8 = 3;
    pub(in crate::display) const COMPARISON: u8 = 5;
    pub(in crate::display) const BETWEEN: u8 = 7;
    pub(in crate::display) const LIKE: u8 = 8;
    pub(in crate::display) const BIT_OR: u8 = 9;
    pub(in crate::display) const BIT_AND: u8 = 10;
    pub(in crate::display) const SHIFT: u8 = 11;
    pub(in crate::display) const INTERVAL: u8 = 12;
    pub(in crate::display) const ADD: u8 = 13;
    pub(in crate::display) const MUL: u8 = 14;
    pub(in crate::display) const BIT_XOR: u8 = 15;

    pub(in crate::display) const NEG: u8 = 16;
    pub(in crate::display) const COLLATE: u8 = 17;
    pub(in crate::display) const PRIMARY: u8 = 20;
}

/// The opposite of a comparison.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        _ => return None,
    })
}

/// What `NOT expr` is shown as, if the negation goes inside.
fn negated(expr: &Expr) -> Option<Expr> {
    let all = |terms: &[Expr]| -> Vec<Expr> { terms.iter().map(not).collect() };
    Some(match expr {
        Expr::Column(_) => {
            let zero = Box::new(Expr::Literal(Literal::Int(0)));
            Expr::Binary {
                op: BinaryOp::Eq,
                left: Box::new(expr.clone()),
                right: zero,
            }
        }
        Expr::And(terms) => Expr::Or(all(terms)),
        Expr::Or(terms) => Expr::And(all(terms)),
        Expr::Binary { op, left, right } => Expr::Binary {
            op: opposite(*op)?,
            left: left.clone(),
            right: right.clone(),
        },
        Expr::Between {
            negated,
            expr,
            low,
            high,
        } => Expr::Between {
            negated: !negated,
            expr: expr.clone(),
            low: low.clone(),
            high: high.clone(),
        },
        Expr::InList {
            negated,
            expr,
            list,
        } => Expr::InList {
            negated: !negated,
            expr: expr.clone(),
            list: list.clone(),
        },
        Expr::IsNull { negated, expr } => Expr::IsNull {
            negated: !negated,
            expr: expr.clone(),
        },
        Expr::Like {
            negated,
            expr,
            pattern,
            escape,
        } => Expr::Like {
            negated: !negated,
            expr: expr.clone(),
            pattern: pattern.clone(),
            escape: escape.clone(),
        },
        Expr::Regexp {
            negated: true,
            expr,
            pattern,
        } => Expr::Regexp {
            negated: false,
            expr: expr.clone(),
            pattern: pattern.clone(),
        },
        Expr::InSubquery {
            negated: true,
            expr,
            query,
        } => Expr::InSubquery {
            negated: false,
            expr: expr.clone(),
            query: query.clone(),
        },
        Expr::IsTruth {
            value: TruthValue::Unknown,
            ..
        } => negated(&folded(expr)?)?,
        Expr::Unary {
            op: UnaryOp::Not,
            expr,
        } if is_condition(expr) => (**expr).clone(),
        Expr::Unary {
            op: UnaryOp::Not,
            expr,
        } => nonzero(expr),
        _ => return None,
    })
}

fn not(expr: &Expr) -> Expr {
    negated(expr).unwrap_or_else(|| Expr::Unary {
        op: UnaryOp::Not,
        expr: Box::new(expr.clone()),
    })
}

/// Whether it is true, false or unknown rather than a number.
fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Binary { op, .. } => binary_level(*op) <= level::COMPARISON,
        Expr::Unary {
            op: UnaryOp::Not, ..
        } => true,
        expr => precedence(expr) <= level::LIKE || matches!(expr, Expr::Exists(_)),
    }
}

fn nonzero(column: &Expr) -> Expr {
    let zero = Box::new(Expr::Literal(Literal::Int(0)));
    Expr::Binary {
        op: BinaryOp::Ne,
        left: Box::new(column.clone()),
        right: zero,
    }
}

/// What an expression is shown as if that is another expression.
fn folded(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Unary {
            op: UnaryOp::Not,
            expr,
        } => negated(expr),
        Expr::Unary {
            op: UnaryOp::Neg,
            expr,
        } => match &**expr {
            Expr::Unary {
                op: UnaryOp::Neg,
                expr,
            } if matches!(**expr, Expr::Literal(_)) => Some((**expr).clone()),
            _ => None,
        },
        Expr::InList {
            negated,
            expr,
            list,
        } if list.len() == 1 => {
            let op = if *negated { BinaryOp::Ne } else { BinaryOp::Eq };
            let right = Box::new(list.first()?.clone());
            Some(Expr::Binary {
                op,
                left: expr.clone(),
                right,
            })
        }
        Expr::IsTruth {
            negated,
            expr,
            value: TruthValue::Unknown,
        } => Some(Expr::IsNull {
            negated: *negated,
            expr: expr.clone(),
        }),
        Expr::Quantified {
            op: BinaryOp::Eq,
            quantifier: Quantifier::Any,
            left,
            query,
        } => Some(Expr::InSubquery {
            negated: false,
            expr: left.clone(),
            query: query.clone(),
        }),
        Expr::Function(call) if call.db.is_none() => folded_call(call),
        _ => None,
    }
}

fn folded_call(call: &FunctionCall) -> Option<Expr> {
    let one = || call.args.first().map(|arg| Box::new(arg.clone()));
    let cast = |ty| Some(Expr::Cast { expr: one()?, ty });
    match (
        call.name.value.to_ascii_lowercase().as_str(),
        call.args.len(),
    ) {
        ("mod", 2) => {
            let right = Box::new(call.args.get(1)?.clone());
            Some(Expr::Binary {
                op: BinaryOp::Mod,
                left: one()?,
                right,
            })
        }
        ("isnull", 1) => Some(Expr::IsNull {
            negated: false,
            expr: one()?,
        }),
        ("date", 1) => cast(CastType::Date),
        ("time", 1) => cast(CastType::Time(None)),
        ("timestamp", 1) => cast(CastType::DateTime(None)),
        _ => None,
    }
}

impl Printer {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.expr_at(expr, level::ASSIGN);
    }

    /// A condition: a bare column is a comparison with zero there.
    pub(super) fn condition(&mut self, expr: &Expr) {
        self.truth(expr, level::ASSIGN);
    }

    fn truth(&mut self, expr: &Expr, min: u8) {
        match expr {
            Expr::Column(_) => self.expr_at(&nonzero(expr), min),
            _ => self.expr_at(expr, min),
        }
    }

    /// An operand, in parentheses if it binds less tightly than `min`.
    pub(super) fn expr_at(&mut self, expr: &Expr, min: u8) {
        if let Some(other) = folded(expr) {
            return self.expr_at(&other, min);
        }
        let parens = precedence(expr) < min;
        if parens {
            self.push("(");
        }
        self.bare(expr);
        if parens {
            self.push(")");
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Column(column) => self.column(column),
            Expr::Param(_) => self.push("?"),
            Expr::UserVar(name) => {
                self.push("@");
                self.ident(name);
            }
            Expr::UserVarAssign { name, value } => {
                self.push("@");
                self.ident(name);
                self.push(":=");
                self.expr(value);
            }
            Expr::SysVar(var) => {
                self.push(match var.scope {
                    Some(VarScope::Global) => "@@global.",
                    Some(VarScope::Session) => "@@session.",
                    None => "@@",
                });
                if let Some(base) = &var.base {
                    self.ident(base);
                    self.push(".");
                }
                self.ident(&var.name);
            }
            Expr::Unary { op, expr } => match op {
                UnaryOp::Neg => self.prefixed("-", expr),
                UnaryOp::BitNot => self.prefixed("~", expr),
                UnaryOp::Not => self.prefixed("!", expr),
                UnaryOp::Binary => {
                    self.push("cast(");
                    self.expr(expr);
                    self.push(" as char charset binary)");
                }
            },
            Expr::Binary { op, left, right } => self.binary(*op, left, right),
            Expr::And(terms) => self.list(terms, " and ", |p, term| p.truth(term, level::AND + 1)),
            Expr::Or(terms) => self.list(terms, " or ", |p, term| p.truth(term, level::OR + 1)),
            Expr::Like {
                negated,
                expr,
                pattern,
                escape,
            } => {
                self.matched(expr, *negated);
                // Two blanks, as MariaDB has it.
                self.push(if *negated { "  not like " } else { " like " });
                self.expr_at(pattern, level::BIT_OR);
                if let Some(escape) = escape {
                    self.push(" escape ");
                    self.expr_at(escape, level::BIT_OR);
                }
            }
            Expr::Regexp {
                negated,
                expr,
                pattern,
            } => {
                self.push(if *negated { "!(" } else { "" });
                self.expr_at(expr, level::LIKE);
                self.push(" regexp ");
                self.expr_at(pattern, level::BIT_OR);
                self.push(if *negated { ")" } else { "" });
            }
            Expr::Between {
                negated,
                expr,
                low,
                high,
            } => {
                self.matched(expr, *negated);
                self.push(if *negated {
                    " not between "
                } else {
                    " between "
                });
                self.expr_at(low, level::BETWEEN);
                self.push(" and ");
                self.expr_at(high, level::BETWEEN);
            }
            Expr::InList {
                negated,
                expr,
                list,
            } => {
                self.matched(expr, *negated);
                self.push(if *negated { " not in (" } else { " in (" });
                self.list(list, ",", Self::expr);
                self.push(")");
            }
            Expr::InSubquery {
                negated,
                expr,
                query,
            } => {
                self.push(if *negated { "!(" } else { "" });
                self.expr_at(expr, level::LIKE);
                self.push(" in ");
                self.subquery(query);
                self.push(if *negated { ")" } else { "" });
            }
            Expr::Quantified {
                op,
                quantifier,
                left,
                query,
            } => {
                self.expr_at(left, level::COMPARISON);
                self.push(operator(*op));
                self.push(if *quantifier == Quantifier::All {
                    "all "
                } else {
                    "any "
                });
                self.subquery(query);
            }
            Expr::IsNull { negated, expr } => {
                self.expr_at(expr, level::COMPARISON);
                self.push(if *negated { " is not null" } else { " is null" });
            }
            Expr::IsTruth {
                negated,
                expr,
                value,
            } => {
                self.expr_at(expr, level::COMPARISON);
                self.push(if *negated { " is not " } else { " is " });
                self.push(match value {
                    TruthValue::True => "true",
                    TruthValue::False => "false",
                    TruthValue::Unknown => "unknown",
                });
            }
            Expr::Exists(query) => {
                self.push("exists(");
                self.query(query, false);
                // One row is enough, and MariaDB says so.
                let limitable = query.limit.is_none()
                    && query.locking.is_none()
                    && query.into.is_none()
                    && matches!(query.body, SetExpr::Select(_));
                self.push(if limitable { " limit 1)" } else { ")" });
            }
            Expr::Subquery(query) => self.subquery(query),
            Expr::Row(row) => self.args("", row),
            Expr::Case {
                operand,
                branches,
                else_expr,
            } => {
                self.push("case ");
                if let Some(operand) = operand {
                    self.expr_at(operand, level::PRIMARY);
                    self.push(" ");
                }
                for branch in branches {
                    self.push("when ");
                    self.expr(&branch.when);
                    self.push(" then ");
                    self.expr(&branch.then);
                    self.push(" ");
                }
                if let Some(other) = else_expr {
                    self.push("else ");
                    self.expr(other);
                    self.push(" ");
                }
                self.push("end");
            }
            _ => self.special(expr),
        }
    }

    /// Calls with a syntax of their own.
    fn special(&mut self, expr: &Expr) {
        match expr {
            Expr::Cast { expr, ty } => {
                // The type of a dynamic column is an argument.
                if let Expr::Function(call) = &**expr
                    && call.name.is("column_get")
                {
                    self.push("column_get(");
                    self.list(&call.args, ",", Self::expr);
                    self.push(" as ");
                } else {
                    self.push("cast(");
                    self.expr(expr);
                    self.push(" as ");
                }
                self.cast_type(ty);
                self.push(")");
            }
            Expr::ConvertUsing { expr, charset } => {
                self.push("convert(");
                self.expr(expr);
                self.push(" using ");
                self.push(&charset_name(charset));
                self.push(")");
            }
            Expr::Collate { expr, collation } => {
                self.expr_at(expr, level::COLLATE);
                self.push(" collate ");
                self.push(&collation.to_ascii_lowercase());
            }
            Expr::Extract { unit, expr } => {
                self.push("extract(");
                self.push(unit_name(*unit));
                self.push(" from ");
                self.expr(expr);
                self.push(")");
            }
            Expr::Trim { side, what, expr } => self.trim(*side, what.as_deref(), expr),
            Expr::DateArith {
                subtract,
                date,
                value,
                unit,
            } => {
                self.expr_at(date, level::INTERVAL);
                self.push(if *subtract {
                    " - interval "
                } else {
                    " + interval "
                });
                self.expr(value);
                self.push(" ");
                self.push(unit_name(*unit));
            }
            Expr::TimestampDiff { unit, from, to } => {
                self.push("timestampdiff(");
                self.push(&unit_name(*unit).to_ascii_uppercase());
                self.push(",");
                self.expr(from);
                self.push(",");
                self.expr(to);
                self.push(")");
            }
            Expr::GetFormat { kind, locale } => {
                self.push("get_format(");
                self.push(match kind {
                    GetFormatKind::Date => "DATE",
                    GetFormatKind::Time => "TIME",
                    GetFormatKind::DateTime => "DATETIME",
                });
                self.push(", ");
                self.expr(locale);
                self.push(")");
            }
            Expr::Char { args, charset } => {
                self.push("char(");
                self.list(args, ",", Self::expr);
                if let Some(charset) = charset {
                    self.push(" using ");
                    self.push(&charset_name(charset));
                }
                self.push(")");
            }
            Expr::WeightString(weight) => self.weight_string(weight),
            Expr::Match {
                columns,
                against,
                mode,
            } => {
                self.push("(match ");
                self.list(columns, ",", Self::expr);
                self.push(" against (");
                self.expr_at(against, level::BIT_OR);
                self.push(match mode {
                    MatchMode::NaturalLanguage => "",
                    MatchMode::Boolean => " in boolean mode",
                    MatchMode::QueryExpansion => " with query expansion",
                });
                self.push("))");
            }
            Expr::Default(column) => {
                self.push("default");
                if let Some(column) = column {
                    self.push("(");
                    self.column(column);
                    self.push(")");
                }
            }
            Expr::Ignore => self.push("ignore"),
            Expr::InsertValue(column) => {
                self.push("values(");
                self.column(column);
                self.push(")");
            }
            Expr::NextValue(name) => {
                self.push("nextval(");
                self.object_name(name);
                self.push(")");
            }
            Expr::PreviousValue(name) => {
                self.push("lastval(");
                self.object_name(name);
                self.push(")");
            }
            Expr::SetVal {
                sequence,
                value,
                is_used,
                round,
            } => {
                self.push("setval(");
                self.object_name(sequence);
                self.push(",");
                self.number(value);
                self.push(if *is_used { ",1," } else { ",0," });
                self.number(round);
                self.push(")");
            }
            Expr::Function(call) => self.call(call),
            // Every other kind was printed by the caller.
            _ => {}
        }
    }

    /// What stands to the left of `LIKE`, `IN`, `BETWEEN`; a `NOT` behind a pattern would be read as part of it.
    fn matched(&mut self, expr: &Expr, negated: bool) {
        let pattern = matches!(expr, Expr::Like { .. } | Expr::Regexp { .. });
        let min = if negated && pattern {
            level::LIKE + 1
        } else {
            level::LIKE
        };
        self.expr_at(expr, min);
    }

    fn prefixed(&mut self, sign: &str, operand: &Expr) {
        self.push(sign);
        self.expr_at(operand, level::NEG);
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        if op == BinaryOp::Concat {
            return self.list_call("concat", &[left, right]);
        }
        if op == BinaryOp::SoundsLike {
            self.list_call("soundex", &[left]);
            self.push(" = ");
            return self.list_call("soundex", &[right]);
        }
        let level = binary_level(op);
        self.expr_at(left, level);
        self.push(operator(op));
        // A comparison's right operand is what the grammar calls a predicate.
        let right_level = if level == level::COMPARISON {
            level::BETWEEN
        } else {
            level + 1
        };
        self.expr_at(right, right_level);
    }

    pub(super) fn list_call(&mut self, name: &str, args: &[&Expr]) {
        self.push(name);
        self.push("(");
        self.list(args, ",", |p, arg| p.expr(arg));
        self.push(")");
    }

    fn args(&mut self, name: &str, args: &[Expr]) {
        self.push(name);
        self.push("(");
        self.list(args, ",", Self::expr);
        self.push(")");
    }

    fn subquery(&mut self, query: &Query) {
        self.push("(");
        self.query(query, false);
        self.push(")");
    }

    fn column(&mut self, column: &ColumnRef) {
        for part in [&column.db, &column.table].into_iter().flatten() {
            self.ident(part);
            self.push(".");
        }
        self.ident(&column.name);
    }

    pub(super) fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.push("NULL"),
            Literal::True => self.push("1"),
            Literal::False => self.push("0"),
            Literal::Int(value) => self.number(value),
            Literal::Decimal(digits) => {
                // `.5` is shown as 0.5, and `5.` as 5, but that would be another type here.
                if digits.starts_with('.') {
                    self.push("0");
                }
                self.push(digits);
            }
            Literal::Float(digits) => self.push(digits),
            Literal::Str(literal) => self.string(literal),
            Literal::Hex { bytes, quoted } => {
                self.push(if *quoted { "X'" } else { "0x" });
                self.hex(bytes);
                self.push(if *quoted { "'" } else { "" });
            }
            Literal::Bit(bytes) if bytes.is_empty() => self.push("b''"),
            Literal::Bit(bytes) => {
                self.push("0x");
                self.hex(bytes);
            }
            Literal::Date(text) => {
                self.push("DATE");
                self.bytes(text.as_bytes());
            }
            Literal::Time(text) => {
                self.push("TIME");
                self.bytes(text.as_bytes());
            }
            Literal::Timestamp(text) => {
                self.push("TIMESTAMP");
                self.bytes(text.as_bytes());
            }
        }
    }
}

fn binary_level(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Xor => level::XOR,
        BinaryOp::Eq
        | BinaryOp::NullSafeEq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::SoundsLike => level::COMPARISON,
        BinaryOp::BitOr => level::BIT_OR,
        BinaryOp::BitAnd => level::BIT_AND,
        BinaryOp::Shl | BinaryOp::Shr => level::SHIFT,
        BinaryOp::Add | BinaryOp::Sub => level::ADD,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::IntDiv | BinaryOp::Mod => level::MUL,
        BinaryOp::BitXor => level::BIT_XOR,
        BinaryOp::Concat => level::PRIMARY,
    }
}

fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::UserVarAssign { .. } => level::ASSIGN,
        Expr::Or(_) => level::OR,
        Expr::And(_) => level::AND,
        Expr::Binary { op, .. } => binary_level(*op),
        Expr::Quantified { .. } | Expr::IsNull { .. } | Expr::IsTruth { .. } => level::COMPARISON,
        Expr::Between { .. } => level::BETWEEN,
        Expr::Regexp { negated: true, .. } | Expr::InSubquery { negated: true, .. } => level::NEG,
        Expr::Like { .. } | Expr::Regexp { .. } | Expr::InList { .. } | Expr::InSubquery { .. } => {
            level::LIKE
        }
        Expr::DateArith { .. } => level::INTERVAL,
        Expr::Unary {
            op: UnaryOp::Binary,
            ..
        } => level::PRIMARY,
        Expr::Unary { .. } => level::NEG,
        Expr::Collate { .. } => level::COLLATE,
        _ => level::PRIMARY,
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Xor => " xor ",
        BinaryOp::Eq => " = ",
        BinaryOp::NullSafeEq => " <=> ",
        BinaryOp::Ne => " <> ",
        BinaryOp::Lt => " < ",
        BinaryOp::Le => " <= ",
        BinaryOp::Gt => " > ",
        BinaryOp::Ge => " >= ",
        BinaryOp::BitOr => " | ",
        BinaryOp::BitAnd => " & ",
        BinaryOp::BitXor => " ^ ",
        BinaryOp::Shl => " << ",
        BinaryOp::Shr => " >> ",
        BinaryOp::Add => " + ",
        BinaryOp::Sub => " - ",
        BinaryOp::Mul => " * ",
        BinaryOp::Div => " / ",
        BinaryOp::IntDiv => " DIV ",
        BinaryOp::Mod => " MOD ",
        BinaryOp::Concat | BinaryOp::SoundsLike => " ",
    }
}

/// A unit as it is written behind `INTERVAL`.
fn unit_name(unit: IntervalUnit) -> &'static str {
    match unit {
        IntervalUnit::Microsecond => "microsecond",
        IntervalUnit::Second => "second",
        IntervalUnit::Minute => "minute",
        IntervalUnit::Hour => "hour",
        IntervalUnit::Day => "day",
        IntervalUnit::Week => "week",
        IntervalUnit::Month => "month",
        IntervalUnit::Quarter => "quarter",
        IntervalUnit::Year => "year",
        IntervalUnit::SecondMicrosecond => "second_microsecond",
        IntervalUnit::MinuteMicrosecond => "minute_microsecond",
        IntervalUnit::MinuteSecond => "minute_second",
        IntervalUnit::HourMicrosecond => "hour_microsecond",
        IntervalUnit::HourSecond => "hour_second",
        IntervalUnit::HourMinute => "hour_minute",
        IntervalUnit::DayMicrosecond => "day_microsecond",
        IntervalUnit::DaySecond => "day_second",
        IntervalUnit::DayMinute => "day_minute",
        IntervalUnit::DayHour => "day_hour",
        IntervalUnit::YearMonth => "year_month",
    }
}
