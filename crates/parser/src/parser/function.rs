//! Operands that begin with a word: columns, calls, and the calls with a syntax of their own.

use super::Parser;
use crate::ast::{
    CaseBranch, Expr, FrameBound, FrameExclude, FrameUnits, FunctionCall, GetFormatKind, Ident,
    IntervalUnit, Literal, MatchMode, OrderItem, TrimSide, WeightLevel, WeightString, Window,
    WindowFrame, WindowSpec,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

/// How many arguments the functions take that are words of the grammar.
const ARITIES: &[(Kw, usize, usize)] = &[
    (Kw::ASCII, 1, 1),
    (Kw::CHARSET, 1, 1),
    (Kw::COALESCE, 1, usize::MAX),
    (Kw::COLLATION, 1, 1),
    (Kw::DATABASE, 0, 0),
    (Kw::SCHEMA, 0, 0),
    (Kw::DATE, 1, 1),
    (Kw::DAY, 1, 1),
    (Kw::FORMAT, 2, 3),
    (Kw::HOUR, 1, 1),
    (Kw::IF, 3, 3),
    (Kw::INSERT, 4, 4),
    (Kw::LEFT, 2, 2),
    (Kw::MICROSECOND, 1, 1),
    (Kw::MINUTE, 1, 1),
    (Kw::MOD, 2, 2),
    (Kw::MONTH, 1, 1),
    (Kw::OLD_PASSWORD, 1, 1),
    (Kw::PASSWORD, 1, 1),
    (Kw::QUARTER, 1, 1),
    (Kw::REPEAT, 2, 2),
    (Kw::REPLACE, 3, 3),
    (Kw::REVERSE, 1, 1),
    (Kw::RIGHT, 2, 2),
    (Kw::ROW_COUNT, 0, 0),
    (Kw::SECOND, 1, 1),
    (Kw::TIME, 1, 1),
    (Kw::TIMESTAMP, 1, 2),
    (Kw::TRUNCATE, 2, 2),
    (Kw::USER, 0, 0),
    (Kw::WEEK, 1, 2),
    (Kw::YEAR, 1, 1),
];

/// Functions whose arguments have a syntax of their own; a call only if the parenthesis follows directly
/// (or under `IGNORE_SPACE`).
#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// `[ALL|DISTINCT] x`
    Aggregate,
    Count,
    GroupConcat,
    JsonArrayAgg,
    Cast,
    /// `DATE_ADD`, `ADDDATE`: whether it subtracts, and whether a plain number of days will do
    DateArith {
        subtract: bool,
        days: bool,
    },
    Extract,
    Now(&'static str),
    Position,
    Substring,
    Trim,
    Percentile,
    Median,
    User,
    /// A window function: how many arguments it takes
    Window(usize, usize),
    /// A call as any other, with this many arguments
    Plain(usize, usize),
}

fn special(name: &[u8]) -> Option<Special> {
    let mut upper = [0u8; 16];
    let upper = upper.get_mut(..name.len())?;
    upper.copy_from_slice(name);
    upper.make_ascii_uppercase();
    Some(match &*upper {
        b"BIT_AND" | b"BIT_OR" | b"BIT_XOR" | b"MAX" | b"MIN" | b"STD" | b"STDDEV"
        | b"STDDEV_POP" | b"STDDEV_SAMP" | b"SUM" | b"VARIANCE" | b"VAR_POP" | b"VAR_SAMP" => {
            Special::Aggregate
        }
        b"JSON_OBJECTAGG" => Special::Plain(2, 2),
        b"DATE_FORMAT" => Special::Plain(2, 3),
        b"RANK" | b"DENSE_RANK" | b"PERCENT_RANK" | b"CUME_DIST" => Special::Window(0, 0),
        b"NTILE" | b"FIRST_VALUE" => Special::Window(1, 1),
        b"LEAD" | b"LAG" => Special::Window(1, 2),
        b"NTH_VALUE" => Special::Window(2, 2),
        b"COUNT" => Special::Count,
        b"GROUP_CONCAT" => Special::GroupConcat,
        b"JSON_ARRAYAGG" => Special::JsonArrayAgg,
        b"CAST" => Special::Cast,
        b"ADDDATE" => Special::DateArith {
            subtract: false,
            days: true,
        },
        b"SUBDATE" => Special::DateArith {
            subtract: true,
            days: true,
        },
        b"DATE_ADD" => Special::DateArith {
            subtract: false,
            days: false,
        },
        b"DATE_SUB" => Special::DateArith {
            subtract: true,
            days: false,
        },
        b"EXTRACT" => Special::Extract,
        b"NOW" => Special::Now("current_timestamp"),
        b"CURDATE" => Special::Now("curdate"),
        b"CURTIME" => Special::Now("curtime"),
        b"POSITION" => Special::Position,
        b"SUBSTRING" | b"SUBSTR" | b"MID" => Special::Substring,
        b"TRIM" => Special::Trim,
        b"PERCENTILE_CONT" | b"PERCENTILE_DISC" => Special::Percentile,
        b"MEDIAN" => Special::Median,
        b"SESSION_USER" | b"SYSTEM_USER" => Special::User,
        _ => return None,
    })
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Function(Box::new(FunctionCall::new(Ident::new(name), args)))
}

impl Parser<'_> {
    /// A name that is no keyword comes next: a column or a call.
    pub(super) fn named(&mut self) -> Res<Expr> {
        match self.peek_at(1) {
            Tok::LParen => {
                if self.at_tok(Tok::Func) || self.at_tok(Tok::Ident) {
                    match special(self.token_bytes(self.pos)) {
                        // These are called with blanks before the parenthesis too.
                        Some(kind @ (Special::DateArith { days: true, .. } | Special::User)) => {
                            return self.special_call(kind);
                        }
                        Some(kind) if self.at_tok(Tok::Func) => return self.special_call(kind),
                        _ => {}
                    }
                }
                self.generic_call(None)
            }
            Tok::Dot if self.peek_at(3) == Tok::LParen => {
                let db = self.ident()?;
                self.bump();
                self.generic_call(Some(db))
            }
            _ => self.column_ref().map(Expr::Column),
        }
    }

    /// `f(a, b)`, perhaps with `OVER`; the next token is its name.
    fn generic_call(&mut self, db: Option<Ident>) -> Res<Expr> {
        let name = if db.is_some() {
            self.ident()?
        } else {
            self.take_ident()
        };
        self.expect_tok(Tok::LParen)?;
        let args = if db.is_some() {
            self.args_until_paren()?
        } else {
            self.call_args()?
        };
        self.expect_tok(Tok::RParen)?;
        let mut call = FunctionCall::new(name, args);
        call.db = db;
        Ok(Expr::Function(Box::new(call)))
    }

    /// Arguments, which a loadable function may get by name.
    fn call_args(&mut self) -> Res<Vec<Expr>> {
        if self.at_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        self.list(|p| {
            let arg = p.expr()?;
            if p.eat(Kw::AS) || p.at_ident() || p.at_tok(Tok::Str) {
                p.ident_or_text()?;
            }
            Ok(arg)
        })
    }

    fn over(&mut self) -> Res<Option<Window>> {
        if !self.eat(Kw::OVER) {
            return Ok(None);
        }
        if self.at_ident() {
            return Ok(Some(Window::Named(self.ident()?)));
        }
        let spec = self.parens(Self::window_spec)?;
        Ok(Some(Window::Spec(Box::new(spec))))
    }

    /// What stands in the parentheses of a window.
    pub(super) fn window_spec(&mut self) -> Res<WindowSpec> {
        let mut spec = WindowSpec::default();
        if self.at_ident() && !self.at_any(&[Kw::PARTITION]) {
            spec.base = Some(self.ident()?);
        }
        if self.eat(Kw::PARTITION) {
            self.expect(Kw::BY)?;
            spec.partition_by = self.list(Self::expr)?;
        }
        spec.order_by = self.opt_order_by()?;
        let units = match self.eat_any(&[Kw::ROWS, Kw::RANGE]) {
            Some(Kw::ROWS) => FrameUnits::Rows,
            Some(_) => FrameUnits::Range,
            None => return Ok(spec),
        };
        let (start, end) = if self.eat(Kw::BETWEEN) {
            let start = self.frame_bound()?;
            self.expect(Kw::AND)?;
            (start, Some(self.frame_bound()?))
        } else {
            (self.frame_bound()?, None)
        };
        let exclude = if self.eat(Kw::EXCLUDE) {
            match self.expect_any(&[Kw::CURRENT, Kw::GROUP, Kw::TIES, Kw::NO])? {
                Kw::CURRENT => {
                    self.expect(Kw::ROW)?;
                    FrameExclude::CurrentRow
                }
                Kw::GROUP => FrameExclude::Group,
                Kw::TIES => FrameExclude::Ties,
                _ => {
                    self.expect(Kw::OTHERS)?;
                    FrameExclude::NoOthers
                }
            }
        } else {
            FrameExclude::NoOthers
        };
        spec.frame = Some(WindowFrame {
            units,
            start,
            end,
            exclude,
        });
        Ok(spec)
    }

    fn frame_bound(&mut self) -> Res<FrameBound> {
        if self.eat(Kw::UNBOUNDED) {
            return Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
                Kw::PRECEDING => FrameBound::UnboundedPreceding,
                _ => FrameBound::UnboundedFollowing,
            });
        }
        if self.eat(Kw::CURRENT) {
            self.expect(Kw::ROW)?;
            return Ok(FrameBound::CurrentRow);
        }
        let offset = Box::new(self.bit_expr()?);
        Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
            Kw::PRECEDING => FrameBound::Preceding(offset),
            _ => FrameBound::Following(offset),
        })
    }

    pub(super) fn opt_order_by(&mut self) -> Res<Vec<OrderItem>> {
        if !self.at_seq(&[Kw::ORDER, Kw::BY]) {
            return if self.eat(Kw::ORDER) {
                self.fail()
            } else {
                Ok(Vec::new())
            };
        }
        self.bump();
        self.bump();
        self.list(Self::order_item)
    }

    pub(super) fn order_item(&mut self) -> Res<OrderItem> {
        let expr = self.expr()?;
        let desc = self.eat_any(&[Kw::ASC, Kw::DESC]).map(|kw| kw == Kw::DESC);
        Ok(OrderItem { expr, desc })
    }

    fn special_call(&mut self, kind: Special) -> Res<Expr> {
        let name = self.take_ident();
        self.expect_tok(Tok::LParen)?;
        let expr = match kind {
            Special::Aggregate | Special::Count | Special::GroupConcat | Special::JsonArrayAgg => {
                return self.aggregate(name, kind);
            }
            Special::Percentile | Special::Median => {
                return self.percentile(name, kind == Special::Median);
            }
            Special::Window(least, most) | Special::Plain(least, most) => {
                let args = self.some_args(least, most)?;
                self.expect_tok(Tok::RParen)?;
                let mut call = FunctionCall::new(name, args);
                if kind != Special::Plain(least, most) && !self.at(Kw::OVER) {
                    return self.fail();
                }
                call.over = self.over()?;
                return Ok(Expr::Function(Box::new(call)));
            }
            Special::Cast => {
                let expr = Box::new(self.expr()?);
                self.expect(Kw::AS)?;
                Expr::Cast {
                    expr,
                    ty: self.cast_type()?,
                }
            }
            Special::DateArith { subtract, days } => self.date_arith(subtract, days)?,
            Special::Extract => {
                let unit = self.interval_unit()?;
                self.expect(Kw::FROM)?;
                Expr::Extract {
                    unit,
                    expr: Box::new(self.expr()?),
                }
            }
            Special::Now(name) => {
                let args = if name == "curdate" {
                    Vec::new()
                } else {
                    self.opt_precision()?
                };
                call(name, args)
            }
            Special::Position => {
                let what = self.bit_expr()?;
                self.expect(Kw::IN)?;
                call("locate", vec![what, self.expr()?])
            }
            Special::Substring => self.substring()?,
            Special::Trim => self.trim()?,
            Special::User => call("user", Vec::new()),
        };
        self.expect_tok(Tok::RParen)?;
        Ok(expr)
    }

    /// The fractional digits of `NOW(6)`.
    fn opt_precision(&mut self) -> Res<Vec<Expr>> {
        if !self.at_tok(Tok::Int) {
            return Ok(Vec::new());
        }
        Ok(vec![Expr::Literal(Literal::Int(self.number()?))])
    }

    fn aggregate(&mut self, name: Ident, kind: Special) -> Res<Expr> {
        let mut call = FunctionCall::new(name, Vec::new());
        if kind == Special::Count && self.eat_tok(Tok::Star) {
            call.star = true;
        } else {
            if self.eat(Kw::DISTINCT) {
                call.distinct = true;
            } else {
                self.eat(Kw::ALL);
            }
            call.args = self.list(Self::expr)?;
            if matches!(kind, Special::GroupConcat | Special::JsonArrayAgg) {
                call.order_by = self.opt_order_by()?;
                if kind == Special::GroupConcat && self.eat(Kw::SEPARATOR) {
                    call.separator = Some(self.text_bytes()?);
                }
                if self.at(Kw::LIMIT) {
                    call.limit = self.limit()?.map(Box::new);
                }
            }
        }
        self.expect_tok(Tok::RParen)?;
        call.over = self.over()?;
        Ok(Expr::Function(Box::new(call)))
    }

    fn percentile(&mut self, name: Ident, median: bool) -> Res<Expr> {
        let mut call = FunctionCall::new(name, vec![self.expr()?]);
        self.expect_tok(Tok::RParen)?;
        if !median {
            self.expect_seq(&[Kw::WITHIN, Kw::GROUP])?;
            self.expect_tok(Tok::LParen)?;
            self.expect_seq(&[Kw::ORDER, Kw::BY])?;
            call.within_group = vec![self.order_item()?];
            self.expect_tok(Tok::RParen)?;
        }
        if !self.at(Kw::OVER) {
            return self.fail();
        }
        call.over = self.over()?;
        Ok(Expr::Function(Box::new(call)))
    }

    fn date_arith(&mut self, subtract: bool, days: bool) -> Res<Expr> {
        let date = Box::new(self.expr()?);
        self.expect_tok(Tok::Comma)?;
        if self.at(Kw::INTERVAL) {
            let name = self.take_ident();
            return Ok(match self.after_interval()? {
                super::expr::Interval::Unit(value, unit) => Expr::DateArith {
                    subtract,
                    date,
                    value: Box::new(value),
                    unit,
                },
                super::expr::Interval::Call(args) if days => {
                    let first = Expr::Function(Box::new(FunctionCall::new(name, args)));
                    let value = Box::new(self.expr_from(first, 0)?);
                    Expr::DateArith {
                        subtract,
                        date,
                        value,
                        unit: IntervalUnit::Day,
                    }
                }
                super::expr::Interval::Call(_) => return self.fail(),
            });
        }
        if !days {
            return self.fail();
        }
        let value = Box::new(self.expr()?);
        Ok(Expr::DateArith {
            subtract,
            date,
            value,
            unit: IntervalUnit::Day,
        })
    }

    fn substring(&mut self) -> Res<Expr> {
        let mut args = vec![self.expr()?];
        if self.eat(Kw::FROM) {
            args.push(self.expr()?);
            if self.eat(Kw::FOR) {
                args.push(self.expr()?);
            }
        } else {
            self.expect_tok(Tok::Comma)?;
            args.push(self.expr()?);
            if self.eat_tok(Tok::Comma) {
                args.push(self.expr()?);
            }
        }
        Ok(call("substr", args))
    }

    fn trim(&mut self) -> Res<Expr> {
        let side = match self.eat_any(&[Kw::BOTH, Kw::LEADING, Kw::TRAILING]) {
            Some(Kw::BOTH) => Some(TrimSide::Both),
            Some(Kw::LEADING) => Some(TrimSide::Leading),
            Some(_) => Some(TrimSide::Trailing),
            None => None,
        };
        if side.is_some() && self.eat(Kw::FROM) {
            return Ok(Expr::Trim {
                side,
                what: None,
                expr: Box::new(self.expr()?),
            });
        }
        let first = Box::new(self.expr()?);
        if self.eat(Kw::FROM) {
            return Ok(Expr::Trim {
                side,
                what: Some(first),
                expr: Box::new(self.expr()?),
            });
        }
        if side.is_some() {
            return self.fail();
        }
        Ok(Expr::Trim {
            side,
            what: None,
            expr: first,
        })
    }

    /// An operand that begins with a keyword.
    pub(super) fn keyword_operand(&mut self, kw: Kw) -> Res<Expr> {
        let next = self.peek_at(1);
        match kw {
            Kw::NULL => self.literal(Literal::Null),
            Kw::TRUE => self.literal(Literal::True),
            Kw::FALSE => self.literal(Literal::False),
            Kw::CASE => self.case(),
            Kw::EXISTS => {
                self.bump();
                Ok(Expr::Exists(Box::new(self.subquery()?)))
            }
            Kw::INTERVAL => self.interval_operand(),
            Kw::MATCH => self.match_against(),
            Kw::CONVERT => self.convert(),
            Kw::CHAR => self.char_call(),
            Kw::DEFAULT => {
                self.bump();
                let column = self.parens(Self::column_ref)?;
                Ok(Expr::Default(Some(column)))
            }
            Kw::DATE | Kw::TIME | Kw::TIMESTAMP if next == Tok::Str => {
                self.bump();
                let text = self.string()?;
                Ok(Expr::Literal(match kw {
                    Kw::DATE => Literal::Date(text),
                    Kw::TIME => Literal::Time(text),
                    _ => Literal::Timestamp(text),
                }))
            }
            Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => {
                self.niladic("current_timestamp", true)
            }
            Kw::CURRENT_DATE => self.niladic("curdate", false),
            Kw::CURRENT_TIME => self.niladic("curtime", true),
            Kw::UTC_DATE => self.niladic("utc_date", false),
            Kw::UTC_TIME => self.niladic("utc_time", true),
            Kw::UTC_TIMESTAMP => self.niladic("utc_timestamp", true),
            Kw::CURRENT_USER => self.niladic("current_user", false),
            Kw::CURRENT_ROLE => self.niladic("current_role", false),
            Kw::VALUES => self.insert_value(),
            Kw::NEXT | Kw::PREVIOUS if next == Tok::Kw(Kw::VALUE) => {
                self.bump();
                self.bump();
                self.expect(Kw::FOR)?;
                let name = self.object_name()?;
                Ok(if kw == Kw::NEXT {
                    Expr::NextValue(name)
                } else {
                    Expr::PreviousValue(name)
                })
            }
            _ if next == Tok::LParen => self.keyword_call(kw),
            Kw::ROWNUM => self.niladic("rownum", false),
            _ if kw.is_reserved() => self.fail(),
            _ => self.named(),
        }
    }

    /// A keyword and an opening parenthesis come next.
    fn keyword_call(&mut self, kw: Kw) -> Res<Expr> {
        match kw {
            Kw::ROW => {
                self.bump();
                self.expect_tok(Tok::LParen)?;
                let row = self.list(Self::expr)?;
                self.expect_tok(Tok::RParen)?;
                return Ok(if row.len() == 1 {
                    row.into_iter().next().unwrap_or(Expr::Ignore)
                } else {
                    Expr::Row(row)
                });
            }
            Kw::VALUE => return self.insert_value(),
            Kw::NEXTVAL | Kw::LASTVAL => {
                self.bump();
                let name = self.parens(Self::object_name)?;
                return Ok(if kw == Kw::NEXTVAL {
                    Expr::NextValue(name)
                } else {
                    Expr::PreviousValue(name)
                });
            }
            Kw::SETVAL => return self.set_val(),
            Kw::SYSDATE => return self.niladic("sysdate", true),
            Kw::ROWNUM => return self.niladic("rownum", false),
            Kw::TIMESTAMPADD | Kw::TIMESTAMPDIFF => return self.timestamp_call(kw),
            Kw::GET_FORMAT => return self.get_format(),
            Kw::WEIGHT_STRING => return self.weight_string(),
            Kw::COLUMN_ADD | Kw::COLUMN_CREATE | Kw::COLUMN_GET => return self.dynamic_columns(kw),
            Kw::COLUMN_CHECK | Kw::COLUMN_DELETE => return self.generic_call(None),
            Kw::AVG => {
                let name = self.take_ident();
                self.bump();
                return self.aggregate(name, Special::Aggregate);
            }
            Kw::LAST_VALUE | Kw::ROW_NUMBER => {
                let name = self.take_ident();
                self.bump();
                let most = if kw == Kw::LAST_VALUE { usize::MAX } else { 0 };
                let mut call = FunctionCall::new(name, self.some_args(most.min(1), most)?);
                self.expect_tok(Tok::RParen)?;
                if kw == Kw::ROW_NUMBER && !self.at(Kw::OVER) {
                    return self.fail();
                }
                call.over = self.over()?;
                return Ok(Expr::Function(Box::new(call)));
            }
            Kw::IGNORED | Kw::JSON => return self.fail(),
            _ => {}
        }
        if let Some((_, least, most)) = ARITIES.iter().find(|(word, ..)| *word == kw) {
            return self.keyword_function(kw, *least, *most);
        }
        if kw.is_reserved() {
            return self.fail();
        }
        if !kw.is_function_name() {
            // A name that cannot be called: the parenthesis is what does not fit.
            self.bump();
            return self.fail();
        }
        self.generic_call(None)
    }

    /// A call whose number of arguments belongs to the grammar.
    fn keyword_function(&mut self, kw: Kw, least: usize, most: usize) -> Res<Expr> {
        let name = match kw {
            Kw::SCHEMA => {
                self.bump();
                Ident::new("database")
            }
            _ => self.take_ident(),
        };
        self.expect_tok(Tok::LParen)?;
        let args = self.some_args(least, most)?;
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Function(Box::new(FunctionCall::new(name, args))))
    }

    /// Between `least` and `most` arguments.
    fn some_args(&mut self, least: usize, most: usize) -> Res<Vec<Expr>> {
        let mut args = Vec::new();
        while args.len() < most {
            if args.is_empty() {
                if least == 0 && self.at_tok(Tok::RParen) {
                    break;
                }
            } else if args.len() < least {
                self.expect_tok(Tok::Comma)?;
            } else if !self.eat_tok(Tok::Comma) {
                break;
            }
            args.push(self.expr()?);
        }
        Ok(args)
    }

    fn literal(&mut self, literal: Literal) -> Res<Expr> {
        self.bump();
        Ok(Expr::Literal(literal))
    }

    /// `CURRENT_DATE`, `CURRENT_TIMESTAMP(6)`, …
    fn niladic(&mut self, name: &str, precision: bool) -> Res<Expr> {
        self.bump();
        let mut args = Vec::new();
        if self.eat_tok(Tok::LParen) {
            if precision {
                args = self.opt_precision()?;
            }
            self.expect_tok(Tok::RParen)?;
        }
        Ok(call(name, args))
    }

    fn case(&mut self) -> Res<Expr> {
        self.expect(Kw::CASE)?;
        let operand = if self.at(Kw::WHEN) {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        let mut branches = Vec::new();
        self.expect(Kw::WHEN)?;
        loop {
            let when = self.expr()?;
            self.expect(Kw::THEN)?;
            branches.push(CaseBranch {
                when,
                then: self.expr()?,
            });
            if !self.eat(Kw::WHEN) {
                break;
            }
        }
        let else_expr = if self.eat(Kw::ELSE) {
            Some(Box::new(self.expr()?))
        } else {
            None
        };
        self.expect(Kw::END)?;
        Ok(Expr::Case {
            operand,
            branches,
            else_expr,
        })
    }

    fn match_against(&mut self) -> Res<Expr> {
        self.expect(Kw::MATCH)?;
        let columns = if self.at_tok(Tok::LParen) {
            self.paren_list(|p| p.column_ref().map(Expr::Column))?
        } else {
            self.list(|p| p.column_ref().map(Expr::Column))?
        };
        self.expect(Kw::AGAINST)?;
        self.expect_tok(Tok::LParen)?;
        let against = Box::new(self.bit_expr()?);
        let mut mode = MatchMode::NaturalLanguage;
        let natural = self.eat_seq(&[Kw::IN, Kw::NATURAL]);
        if natural {
            self.expect_seq(&[Kw::LANGUAGE, Kw::MODE])?;
        } else if self.eat(Kw::IN) {
            self.expect_seq(&[Kw::BOOLEAN, Kw::MODE])?;
            mode = MatchMode::Boolean;
        }
        if mode != MatchMode::Boolean && self.eat(Kw::WITH) {
            self.expect_seq(&[Kw::QUERY, Kw::EXPANSION])?;
            mode = MatchMode::QueryExpansion;
        }
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Match {
            columns,
            against,
            mode,
        })
    }

    fn convert(&mut self) -> Res<Expr> {
        self.expect(Kw::CONVERT)?;
        self.expect_tok(Tok::LParen)?;
        let expr = Box::new(self.expr()?);
        let converted = if self.eat(Kw::USING) {
            let charset = if self.eat(Kw::DEFAULT) {
                "DEFAULT".into()
            } else {
                self.charset_name()?
            };
            Expr::ConvertUsing { expr, charset }
        } else {
            self.expect_tok(Tok::Comma)?;
            Expr::Cast {
                expr,
                ty: self.cast_type()?,
            }
        };
        self.expect_tok(Tok::RParen)?;
        Ok(converted)
    }

    fn char_call(&mut self) -> Res<Expr> {
        self.expect(Kw::CHAR)?;
        self.expect_tok(Tok::LParen)?;
        let args = self.list(Self::expr)?;
        let charset = if self.eat(Kw::USING) {
            Some(self.charset_name()?)
        } else {
            None
        };
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Char { args, charset })
    }

    fn insert_value(&mut self) -> Res<Expr> {
        self.bump();
        Ok(Expr::InsertValue(self.parens(Self::column_ref)?))
    }

    fn set_val(&mut self) -> Res<Expr> {
        self.bump();
        self.expect_tok(Tok::LParen)?;
        let sequence = Box::new(self.object_name()?);
        self.expect_tok(Tok::Comma)?;
        let value = self.signed_number()?;
        let (mut is_used, mut round) = (true, 0);
        if self.eat_tok(Tok::Comma) {
            is_used = match self.eat_any(&[Kw::TRUE, Kw::FALSE]) {
                Some(kw) => kw == Kw::TRUE,
                None => self.number()? != 0,
            };
            if self.eat_tok(Tok::Comma) {
                round = self.number()?;
            }
        }
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::SetVal {
            sequence,
            value,
            is_used,
            round,
        })
    }

    fn timestamp_call(&mut self, kw: Kw) -> Res<Expr> {
        self.bump();
        self.expect_tok(Tok::LParen)?;
        let unit = self.simple_unit()?;
        self.expect_tok(Tok::Comma)?;
        let first = Box::new(self.expr()?);
        self.expect_tok(Tok::Comma)?;
        let second = Box::new(self.expr()?);
        self.expect_tok(Tok::RParen)?;
        Ok(if kw == Kw::TIMESTAMPADD {
            Expr::DateArith {
                subtract: false,
                date: second,
                value: first,
                unit,
            }
        } else {
            Expr::TimestampDiff {
                unit,
                from: first,
                to: second,
            }
        })
    }

    fn get_format(&mut self) -> Res<Expr> {
        self.bump();
        self.expect_tok(Tok::LParen)?;
        let kind = match self.expect_any(&[Kw::DATE, Kw::TIME, Kw::DATETIME, Kw::TIMESTAMP])? {
            Kw::DATE => GetFormatKind::Date,
            Kw::TIME => GetFormatKind::Time,
            _ => GetFormatKind::DateTime,
        };
        self.expect_tok(Tok::Comma)?;
        let locale = Box::new(self.expr()?);
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::GetFormat { kind, locale })
    }

    fn weight_string(&mut self) -> Res<Expr> {
        let name = self.take_ident();
        self.expect_tok(Tok::LParen)?;
        let expr = self.expr()?;
        // The form that a view's text has, with the flags spelled out.
        if self.eat_tok(Tok::Comma) {
            let mut args = vec![expr];
            args.extend(self.list(Self::expr)?);
            self.expect_tok(Tok::RParen)?;
            return Ok(Expr::Function(Box::new(FunctionCall::new(name, args))));
        }
        let (mut char_length, mut binary_length) = (None, None);
        if self.eat(Kw::AS) {
            let kind = self.expect_any(&[Kw::CHAR, Kw::BINARY])?;
            self.expect_tok(Tok::LParen)?;
            if self.at_tok(Tok::Int)
                && self
                    .token_bytes(self.pos)
                    .iter()
                    .all(|digit| *digit == b'0')
            {
                return self.fail();
            }
            let length = Some(self.number()?);
            self.expect_tok(Tok::RParen)?;
            if kind == Kw::CHAR {
                char_length = length
            } else {
                binary_length = length
            }
        }
        let mut levels = Vec::new();
        if self.eat(Kw::LEVEL) {
            loop {
                let first = self.number()?;
                if self.eat_tok(Tok::Minus) {
                    levels.push(WeightLevel {
                        first,
                        last: self.number()?,
                        desc: false,
                        reverse: false,
                    });
                    break;
                }
                let desc = self.eat_any(&[Kw::ASC, Kw::DESC]) == Some(Kw::DESC);
                levels.push(WeightLevel {
                    first,
                    last: first,
                    desc,
                    reverse: self.eat(Kw::REVERSE),
                });
                if !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
        }
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::WeightString(Box::new(WeightString {
            expr,
            char_length,
            binary_length,
            levels,
        })))
    }

    /// Dynamic columns: values may have a type (`AS type`), given as a cast.
    fn dynamic_columns(&mut self, kw: Kw) -> Res<Expr> {
        let name = self.take_ident();
        self.expect_tok(Tok::LParen)?;
        let mut args = Vec::new();
        if kw != Kw::COLUMN_CREATE {
            args.push(self.expr()?);
            self.expect_tok(Tok::Comma)?;
        }
        if kw == Kw::COLUMN_GET {
            args.push(self.expr()?);
            self.expect(Kw::AS)?;
            let ty = self.cast_type()?;
            self.expect_tok(Tok::RParen)?;
            let get = Expr::Function(Box::new(FunctionCall::new(name, args)));
            return Ok(Expr::Cast {
                expr: Box::new(get),
                ty,
            });
        }
        loop {
            args.push(self.expr()?);
            self.expect_tok(Tok::Comma)?;
            let value = self.expr()?;
            args.push(if self.eat(Kw::AS) {
                Expr::Cast {
                    expr: Box::new(value),
                    ty: self.cast_type()?,
                }
            } else {
                value
            });
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Function(Box::new(FunctionCall::new(name, args))))
    }

    /// A unit of `TIMESTAMPADD`: one word, perhaps with `SQL_TSI_` before it.
    fn simple_unit(&mut self) -> Res<IntervalUnit> {
        let unit = match self.peek() {
            Tok::Kw(Kw::MICROSECOND) => IntervalUnit::Microsecond,
            Tok::Kw(Kw::SECOND | Kw::SQL_TSI_SECOND) => IntervalUnit::Second,
            Tok::Kw(Kw::MINUTE | Kw::SQL_TSI_MINUTE) => IntervalUnit::Minute,
            Tok::Kw(Kw::HOUR | Kw::SQL_TSI_HOUR) => IntervalUnit::Hour,
            Tok::Kw(Kw::DAY | Kw::SQL_TSI_DAY) => IntervalUnit::Day,
            Tok::Kw(Kw::WEEK | Kw::SQL_TSI_WEEK) => IntervalUnit::Week,
            Tok::Kw(Kw::MONTH | Kw::SQL_TSI_MONTH) => IntervalUnit::Month,
            Tok::Kw(Kw::QUARTER | Kw::SQL_TSI_QUARTER) => IntervalUnit::Quarter,
            Tok::Kw(Kw::YEAR | Kw::SQL_TSI_YEAR) => IntervalUnit::Year,
            _ => return self.fail(),
        };
        self.bump();
        Ok(unit)
    }

    pub(super) fn interval_unit(&mut self) -> Res<IntervalUnit> {
        let unit = match self.peek() {
            Tok::Kw(Kw::SECOND_MICROSECOND) => IntervalUnit::SecondMicrosecond,
            Tok::Kw(Kw::MINUTE_MICROSECOND) => IntervalUnit::MinuteMicrosecond,
            Tok::Kw(Kw::MINUTE_SECOND) => IntervalUnit::MinuteSecond,
            Tok::Kw(Kw::HOUR_MICROSECOND) => IntervalUnit::HourMicrosecond,
            Tok::Kw(Kw::HOUR_SECOND) => IntervalUnit::HourSecond,
            Tok::Kw(Kw::HOUR_MINUTE) => IntervalUnit::HourMinute,
            Tok::Kw(Kw::DAY_MICROSECOND) => IntervalUnit::DayMicrosecond,
            Tok::Kw(Kw::DAY_SECOND) => IntervalUnit::DaySecond,
            Tok::Kw(Kw::DAY_MINUTE) => IntervalUnit::DayMinute,
            Tok::Kw(Kw::DAY_HOUR) => IntervalUnit::DayHour,
            Tok::Kw(Kw::YEAR_MONTH) => IntervalUnit::YearMonth,
            _ => return self.simple_unit(),
        };
        self.bump();
        Ok(unit)
    }
}
