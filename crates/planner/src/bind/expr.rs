//! Expressions: from the syntax tree to typed expressions.

use selkie_expr::bind::{self, CastTarget, LogicalOp};
use selkie_expr::{CmpOp, Coercibility, Expr, ExprKind, VarScope};
use selkie_parser::ast;
use selkie_types::{Charset, Collation, SqlResult, SqlType, TextKind, sql_err};

use super::subquery::BoundSubquery;
use super::{Binder, illegal_types, operand_columns};

/// An operand of a comparison: a value, a row, or a subquery of several columns.
pub(super) enum Operand {
    Value(Expr),
    Row(Vec<Expr>),
    Query(BoundSubquery),
}

/// The comparison operator of a syntax operator.
pub(super) fn compare_op(op: ast::BinaryOp) -> Option<CmpOp> {
    Some(match op {
        ast::BinaryOp::Eq => CmpOp::Eq,
        ast::BinaryOp::NullSafeEq => CmpOp::NullSafeEq,
        ast::BinaryOp::Ne => CmpOp::Ne,
        ast::BinaryOp::Lt => CmpOp::Lt,
        ast::BinaryOp::Le => CmpOp::Le,
        ast::BinaryOp::Gt => CmpOp::Gt,
        ast::BinaryOp::Ge => CmpOp::Ge,
        _ => return None,
    })
}

/// How an operator is written.
fn op_sign(op: CmpOp) -> &'static str {
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

/// Error 1115 for an unknown character set.
pub(super) fn charset(name: &str) -> SqlResult<Charset> {
    Charset::by_name(name).ok_or_else(|| sql_err!(ER_UNKNOWN_CHARACTER_SET, name))
}

/// Error 1273 for an unknown collation.
pub(super) fn collation(name: &str) -> SqlResult<Collation> {
    Collation::by_name(name).ok_or_else(|| sql_err!(ER_UNKNOWN_COLLATION, name))
}

impl Binder<'_> {
    /// Binds a value.
    pub(super) fn expr(&mut self, e: &ast::Expr) -> SqlResult<Expr> {
        use ast::Expr as A;
        let cx = &self.cx.bind;
        Ok(match e {
            A::Literal(l) => self.literal(l)?,
            A::Column(c) => self.column_ref(c)?,
            A::Param(i) => self.param(*i),
            A::UserVar(name) => {
                let ty = self.cx.variables.user_var_type(&name.value);
                let ty = ty.unwrap_or_else(|| self.long_text());
                Expr {
                    kind: ExprKind::UserVar(name.value.to_lowercase().into()),
                    ty,
                    nullable: true,
                    coercibility: Coercibility::Implicit,
                }
            }
            A::UserVarAssign { name, value } => {
                let value = self.expr(value)?;
                bind::bind_set_user_var(cx, &name.value.to_lowercase(), value)?
            }
            A::SysVar(v) => self.system_variable(v)?,
            A::Unary { op, expr } => {
                let operand = self.expr(expr)?;
                match op {
                    ast::UnaryOp::Neg => bind::bind_unary(cx, bind::UnaryOp::Neg, operand)?,
                    ast::UnaryOp::BitNot => bind::bind_unary(cx, bind::UnaryOp::BitNot, operand)?,
                    ast::UnaryOp::Not => bind::bind_not(cx, operand)?,
                    ast::UnaryOp::Binary => bind::bind_binary_operator(cx, operand)?,
                }
            }
            A::Binary { op, left, right } => return self.binary(*op, left, right),
            A::And(terms) => {
                let terms = self.exprs(terms)?;
                bind::bind_logical(cx, LogicalOp::And, terms)?
            }
            A::Or(terms) => {
                let terms = self.exprs(terms)?;
                bind::bind_logical(cx, LogicalOp::Or, terms)?
            }
            A::Like { negated, expr, pattern, escape } => {
                let (mut e, mut p) = (self.expr(expr)?, self.expr(pattern)?);
                let text = self.long_text();
                self.infer(&mut e, &text);
                let like_type = if e.ty.is_string() { e.ty.clone() } else { text };
                self.infer(&mut p, &like_type);
                let escape = escape.as_ref().map(|x| self.expr(x)).transpose()?;
                bind::bind_like(cx, e, p, escape, *negated)?
            }
            A::Regexp { negated, expr, pattern } => {
                let (e, p) = (self.expr(expr)?, self.expr(pattern)?);
                bind::bind_regexp(cx, e, p, *negated)?
            }
            A::Between { negated, expr, low, high } => {
                let (mut e, mut l, mut h) = (self.expr(expr)?, self.expr(low)?, self.expr(high)?);
                self.infer_pair(&mut e, &mut l);
                self.infer_pair(&mut e, &mut h);
                self.infer_pair(&mut l, &mut h);
                bind::bind_between(cx, e, l, h, *negated)?
            }
            A::InList { negated, expr, list } => return self.in_list(*negated, expr, list),
            A::InSubquery { negated, expr, query } => return self.in_subquery(*negated, expr, query),
            A::Quantified { op, quantifier, left, query } => {
                return self.quantified(*op, *quantifier, left, query);
            }
            A::IsNull { negated, expr } => {
                let e = self.expr(expr)?;
                bind::bind_is_null(cx, e, *negated)?
            }
            A::IsTruth { negated, expr, value } => {
                let e = self.expr(expr)?;
                match value {
                    ast::TruthValue::True => bind::bind_is_bool(cx, e, true, *negated)?,
                    ast::TruthValue::False => bind::bind_is_bool(cx, e, false, *negated)?,
                    ast::TruthValue::Unknown => bind::bind_is_null(cx, e, *negated)?,
                }
            }
            A::Exists(q) => return self.exists(q),
            A::Subquery(q) => return self.scalar_subquery(q),
            A::Row(v) => return Err(if v.len() == 1 { operand_columns(2) } else { operand_columns(1) }),
            A::Case { operand, branches, else_expr } => return self.case(operand, branches, else_expr),
            A::Cast { expr, ty } => {
                let e = self.expr(expr)?;
                let target = self.cast_target(ty)?;
                bind::bind_cast(cx, e, target)?
            }
            A::ConvertUsing { expr, charset: name } => {
                let e = self.expr(expr)?;
                bind::bind_convert_using(cx, e, charset(name)?)?
            }
            A::Collate { expr, collation: name } => {
                let e = self.expr(expr)?;
                bind::bind_collate(cx, e, collation(name)?)?
            }
            A::Extract { unit, expr } => {
                let e = self.expr(expr)?;
                bind::bind_extract(cx, interval_unit(*unit), e)?
            }
            A::Trim { side, what, expr } => {
                let e = self.expr(expr)?;
                let what = what.as_ref().map(|w| self.expr(w)).transpose()?;
                let side = match side {
                    None | Some(ast::TrimSide::Both) => bind::TrimSide::Both,
                    Some(ast::TrimSide::Leading) => bind::TrimSide::Leading,
                    Some(ast::TrimSide::Trailing) => bind::TrimSide::Trailing,
                };
                bind::bind_trim(cx, side, what, e)?
            }
            A::DateArith { subtract, date, value, unit } => {
                let d = self.expr(date)?;
                let v = self.expr(value)?;
                bind::bind_interval(cx, *subtract, d, v, interval_unit(*unit))?
            }
            A::TimestampDiff { unit, from, to } => {
                let (f, t) = (self.expr(from)?, self.expr(to)?);
                bind::bind_timestampdiff(cx, interval_unit(*unit), f, t)?
            }
            A::GetFormat { kind, locale } => {
                let kind = match kind {
                    ast::GetFormatKind::Date => "DATE",
                    ast::GetFormatKind::Time => "TIME",
                    ast::GetFormatKind::DateTime => "DATETIME",
                };
                let locale = self.expr(locale)?;
                bind::bind_function(cx, "get_format", vec![bind::literal_text(cx, kind, None), locale])?
            }
            A::Char { args, charset: name } => {
                let args = self.exprs(args)?;
                let cs = name.as_deref().map(charset).transpose()?;
                bind::bind_char(cx, args, cs)?
            }
            A::WeightString(w) => {
                let e = self.expr(&w.expr)?;
                let length = w.char_length.or(w.binary_length).map(|n| n.min(u32::MAX as u64) as u32);
                bind::bind_weight_string(cx, e, length, w.binary_length.is_some())?
            }
            A::Match { columns, against, mode } => return self.match_against(columns, against, *mode),
            A::Default(None) => return Err(sql_err!(ER_NOT_ALLOWED_IN_THIS_CONTEXT, "DEFAULT")),
            A::Ignore => return Err(sql_err!(ER_NOT_ALLOWED_IN_THIS_CONTEXT, "IGNORE")),
            A::Default(Some(c)) => return self.default_of(c),
            A::InsertValue(c) => return self.inserted_value(c),
            A::NextValue(name) => self.sequence_function("nextval", name, Vec::new())?,
            A::PreviousValue(name) => self.sequence_function("lastval", name, Vec::new())?,
            A::SetVal { sequence, value, is_used, round } => {
                let mut number = bind::literal_number(&value.unsigned_abs().to_string())?;
                if *value < 0 {
                    number = bind::bind_unary(cx, bind::UnaryOp::Neg, number)?;
                }
                let rest = vec![number, bind::literal_bool(*is_used), bind::literal_number(&round.to_string())?];
                self.sequence_function("setval", sequence, rest)?
            }
            A::Function(f) => return self.function_call(f),
        })
    }

    /// Binds several values.
    pub(super) fn exprs(&mut self, list: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        list.iter().map(|e| self.expr(e)).collect()
    }

    /// Binds a condition.
    pub(super) fn condition(&mut self, e: &ast::Expr) -> SqlResult<Expr> {
        self.expr(e)
    }

    /// LONGTEXT of the connection: the type of what is not known better.
    pub(super) fn long_text(&self) -> SqlType {
        SqlType::Text { kind: TextKind::VarChar, len: 65535, collation: self.cx.bind.collation_connection }
    }

    fn param(&mut self, index: usize) -> Expr {
        self.param_count = self.param_count.max(index + 1);
        let known = self.cx.param_types.get(index).filter(|t| **t != SqlType::Null);
        let inferred = self.arena.param_types.get(index).filter(|t| **t != SqlType::Null);
        if let Some(ty) = known.or(inferred) {
            return Expr::param(index, ty.clone());
        }
        self.untyped_params.insert(index);
        let ty = self.long_text();
        Expr::param(index, ty)
    }

    pub(super) fn literal(&mut self, l: &ast::Literal) -> SqlResult<Expr> {
        let cx = &self.cx.bind;
        Ok(match l {
            ast::Literal::Null => bind::literal_null(),
            ast::Literal::True => bind::literal_bool(true),
            ast::Literal::False => bind::literal_bool(false),
            ast::Literal::Int(n) => bind::literal_number(&n.to_string())?,
            ast::Literal::Decimal(t) | ast::Literal::Float(t) => bind::literal_number(t)?,
            ast::Literal::Str(s) => self.string_literal(s)?,
            ast::Literal::Hex { bytes, quoted: true } => bind::literal_binary(bytes),
            ast::Literal::Hex { bytes, quoted: false } | ast::Literal::Bit(bytes) => bind::literal_hex_hybrid(bytes),
            ast::Literal::Date(t) => bind::literal_temporal(cx, &SqlType::Date, t)?,
            ast::Literal::Time(t) => bind::literal_temporal(cx, &SqlType::Time { fsp: 0 }, t)?,
            ast::Literal::Timestamp(t) => bind::literal_temporal(cx, &SqlType::DateTime { fsp: 0 }, t)?,
        })
    }

    fn string_literal(&self, s: &ast::StrLit) -> SqlResult<Expr> {
        let cx = &self.cx.bind;
        let cs = match &s.charset {
            Some(name) => Some(charset(name)?),
            None if s.national => Some(Charset::Utf8mb3),
            None => None,
        };
        match cs {
            Some(Charset::Binary) => Ok(bind::literal_binary(&s.bytes)),
            // The bytes of an introducer's string are in its character set, unless they are escaped text already.
            Some(cs) => match cs.decode(&s.bytes) {
                Ok(utf8) => {
                    let text = String::from_utf8_lossy(&utf8).into_owned();
                    Ok(bind::literal_text(cx, &text, Some(cs.default_collation())))
                }
                Err(at) => {
                    let bad: String = s.bytes[at..].iter().take(6).map(|b| format!("{b:02X}")).collect();
                    Err(sql_err!(ER_INVALID_CHARACTER_STRING, cs.name(), bad))
                }
            },
            None => match std::str::from_utf8(&s.bytes) {
                Ok(text) => Ok(bind::literal_text(cx, text, None)),
                Err(_) => Ok(bind::literal_binary(&s.bytes)),
            },
        }
    }

    fn system_variable(&mut self, v: &ast::SysVar) -> SqlResult<Expr> {
        let scope = match v.scope {
            Some(ast::VarScope::Global) => VarScope::Global,
            Some(ast::VarScope::Session) => VarScope::Session,
            None => VarScope::Default,
        };
        let mut name = v.name.value.to_ascii_lowercase();
        if let Some(base) = &v.base {
            name = format!("{}.{name}", base.value);
        }
        let Some(ty) = self.cx.variables.system_var_type(scope, &name) else {
            return Err(sql_err!(ER_UNKNOWN_SYSTEM_VARIABLE, v.name.value));
        };
        Ok(Expr {
            kind: ExprKind::SystemVar(scope, name.into()),
            ty,
            nullable: true,
            coercibility: Coercibility::SysConst,
        })
    }

    fn binary(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr) -> SqlResult<Expr> {
        if let Some(cmp) = compare_op(op) {
            return self.comparison(cmp, left, right);
        }
        let cx = &self.cx.bind;
        let (mut l, mut r) = (self.expr(left)?, self.expr(right)?);
        let op = match op {
            ast::BinaryOp::Xor => return bind::bind_logical(cx, LogicalOp::Xor, vec![l, r]),
            ast::BinaryOp::SoundsLike => {
                let l = bind::bind_function(cx, "soundex", vec![l])?;
                let r = bind::bind_function(cx, "soundex", vec![r])?;
                return bind::bind_compare(cx, CmpOp::Eq, l, r);
            }
            ast::BinaryOp::BitOr => bind::BinaryOp::BitOr,
            ast::BinaryOp::BitAnd => bind::BinaryOp::BitAnd,
            ast::BinaryOp::BitXor => bind::BinaryOp::BitXor,
            ast::BinaryOp::Shl => bind::BinaryOp::ShiftLeft,
            ast::BinaryOp::Shr => bind::BinaryOp::ShiftRight,
            ast::BinaryOp::Add => bind::BinaryOp::Add,
            ast::BinaryOp::Sub => bind::BinaryOp::Sub,
            ast::BinaryOp::Mul => bind::BinaryOp::Mul,
            ast::BinaryOp::Div => bind::BinaryOp::Div,
            ast::BinaryOp::IntDiv => bind::BinaryOp::IntDiv,
            ast::BinaryOp::Mod => bind::BinaryOp::Mod,
            _ => bind::BinaryOp::Concat,
        };
        if op != bind::BinaryOp::Concat {
            self.infer_pair(&mut l, &mut r);
        }
        bind::bind_binary(cx, op, l, r)
    }

    fn comparison(&mut self, op: CmpOp, left: &ast::Expr, right: &ast::Expr) -> SqlResult<Expr> {
        let l = self.operand(left)?;
        let r = self.operand(right)?;
        match (l, r) {
            (Operand::Value(mut l), Operand::Value(mut r)) => {
                self.infer_pair(&mut l, &mut r);
                bind::bind_compare(&self.cx.bind, op, l, r)
            }
            (Operand::Row(mut l), Operand::Row(mut r)) => {
                if l.len() != r.len() {
                    return Err(operand_columns(l.len()));
                }
                for (a, b) in l.iter_mut().zip(&mut r) {
                    self.infer_pair(a, b);
                }
                bind::bind_row_compare(&self.cx.bind, op, l, r)
            }
            (Operand::Row(l), Operand::Query(q)) => self.row_subquery(op, l, q),
            (Operand::Query(q), Operand::Row(r)) => self.row_subquery(op.swapped(), r, q),
            (Operand::Value(l), _) => Err(illegal_types(Some(&l.ty), None, op_sign(op))),
            (_, Operand::Value(r)) => Err(illegal_types(None, Some(&r.ty), op_sign(op))),
            (Operand::Query(l), Operand::Query(_)) => Err(operand_columns(l.query.output.len())),
        }
    }

    /// Binds an operand that may be a row.
    pub(super) fn operand(&mut self, e: &ast::Expr) -> SqlResult<Operand> {
        match e {
            ast::Expr::Row(v) => Ok(Operand::Row(self.exprs(v)?)),
            ast::Expr::Subquery(q) => {
                let q = self.bind_subquery(q)?;
                if q.query.output.len() == 1 { Ok(Operand::Value(self.scalar_of(q))) } else { Ok(Operand::Query(q)) }
            }
            other => Ok(Operand::Value(self.expr(other)?)),
        }
    }

    fn in_list(&mut self, negated: bool, expr: &ast::Expr, list: &[ast::Expr]) -> SqlResult<Expr> {
        match self.operand(expr)? {
            Operand::Value(mut e) => {
                let mut members = Vec::with_capacity(list.len());
                for m in list {
                    let Operand::Value(mut m) = self.operand(m)? else {
                        return Err(illegal_types(Some(&e.ty), None, "="));
                    };
                    self.infer_pair(&mut e, &mut m);
                    members.push(m);
                }
                bind::bind_in_list(&self.cx.bind, e, members, negated)
            }
            Operand::Row(mut row) => {
                let mut members = Vec::with_capacity(list.len());
                for m in list {
                    match self.operand(m)? {
                        Operand::Row(mut r) if r.len() == row.len() => {
                            for (a, b) in row.iter_mut().zip(&mut r) {
                                self.infer_pair(a, b);
                            }
                            members.push(r);
                        }
                        _ => return Err(operand_columns(row.len())),
                    }
                }
                bind::bind_row_in_list(&self.cx.bind, row, members, negated)
            }
            Operand::Query(_) => Err(operand_columns(1)),
        }
    }

    fn case(
        &mut self,
        operand: &Option<Box<ast::Expr>>,
        branches: &[ast::CaseBranch],
        else_expr: &Option<Box<ast::Expr>>,
    ) -> SqlResult<Expr> {
        let mut operand = operand.as_ref().map(|o| self.expr(o)).transpose()?;
        let mut whens = Vec::with_capacity(branches.len());
        for b in branches {
            let mut when = self.expr(&b.when)?;
            if let Some(o) = &mut operand {
                self.infer_pair(o, &mut when);
            }
            whens.push((when, self.expr(&b.then)?));
        }
        let otherwise = else_expr.as_ref().map(|e| self.expr(e)).transpose()?;
        bind::bind_case(&self.cx.bind, operand, whens, otherwise)
    }

    fn cast_target(&self, ty: &ast::CastType) -> SqlResult<CastTarget> {
        use ast::CastType as C;
        let len = |n: &Option<u64>| n.map(|n| n.min(u32::MAX as u64) as u32);
        let fsp = |n: &Option<u64>| -> SqlResult<u8> {
            match n.unwrap_or(0) {
                n @ 0..=6 => Ok(n as u8),
                n => Err(sql_err!(ER_TOO_BIG_PRECISION, "CAST", n, 6)),
            }
        };
        let digits = |n: u64| n.min(255) as u8;
        Ok(match ty {
            C::Binary(n) => CastTarget::Binary(len(n)),
            C::Char { length, charset: clause } => {
                let collation = match (&clause.collation, &clause.charset) {
                    (Some(c), _) => Some(collation(c)?),
                    (None, Some(cs)) => {
                        let cs = charset(cs)?;
                        Some(if clause.binary { cs.bin_collation() } else { cs.default_collation() })
                    }
                    (None, None) if clause.binary => Some(self.cx.bind.collation_connection.charset().bin_collation()),
                    (None, None) => None,
                };
                CastTarget::Char(len(length), collation)
            }
            C::Signed => CastTarget::Signed,
            C::Unsigned => CastTarget::Unsigned,
            C::Date => CastTarget::Date,
            C::Time(n) => CastTarget::Time(fsp(n)?),
            C::DateTime(n) => CastTarget::DateTime(fsp(n)?),
            C::Decimal { precision, scale } => {
                let (p, s) = (precision.unwrap_or(10), scale.unwrap_or(0));
                if p > 65 {
                    return Err(sql_err!(ER_TOO_BIG_PRECISION, "CAST", p, 65));
                }
                if s > 38 {
                    return Err(sql_err!(ER_TOO_BIG_SCALE, s, "CAST", 38));
                }
                if s > p && p != 0 {
                    return Err(sql_err!(ER_M_BIGGER_THAN_D, "CAST"));
                }
                CastTarget::Decimal(if p == 0 { 10 } else { digits(p) }, digits(s))
            }
            C::Float => CastTarget::Float,
            C::Double { precision, scale } => CastTarget::Double(match (precision, scale) {
                (Some(p), Some(s)) => Some((digits(*p), digits(*s))),
                _ => None,
            }),
            C::IntervalDaySecond(n) => CastTarget::Time(fsp(n)?),
            C::Uuid => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "CAST AS UUID")),
            C::Inet4 | C::Inet6 => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "CAST AS INET")),
            C::Geometry(_) => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "CAST AS GEOMETRY")),
            C::Named(n) => return Err(sql_err!(ER_UNKNOWN_DATA_TYPE, n)),
        })
    }
}

/// The same unit in the expression crate's words.
pub(super) fn interval_unit(u: ast::IntervalUnit) -> bind::IntervalUnit {
    use ast::IntervalUnit as A;
    use bind::IntervalUnit as B;
    match u {
        A::Microsecond => B::Microsecond,
        A::Second => B::Second,
        A::Minute => B::Minute,
        A::Hour => B::Hour,
        A::Day => B::Day,
        A::Week => B::Week,
        A::Month => B::Month,
        A::Quarter => B::Quarter,
        A::Year => B::Year,
        A::SecondMicrosecond => B::SecondMicrosecond,
        A::MinuteMicrosecond => B::MinuteMicrosecond,
        A::MinuteSecond => B::MinuteSecond,
        A::HourMicrosecond => B::HourMicrosecond,
        A::HourSecond => B::HourSecond,
        A::HourMinute => B::HourMinute,
        A::DayMicrosecond => B::DayMicrosecond,
        A::DaySecond => B::DaySecond,
        A::DayMinute => B::DayMinute,
        A::DayHour => B::DayHour,
        A::YearMonth => B::YearMonth,
    }
}
