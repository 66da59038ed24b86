//! Calls and windows as text.

use super::Printer;
use super::expr::level;
use crate::ast::{
    CastType, Expr, FrameBound, FrameExclude, FrameUnits, FunctionCall, TrimSide, WeightString,
    Window, WindowSpec,
};

/// Functions that are shown by another name.
const NAMES: &[(&str, &str)] = &[
    ("upper", "ucase"),
    ("lower", "lcase"),
    ("length", "octet_length"),
    ("lengthb", "octet_length"),
    ("character_length", "char_length"),
    ("day", "dayofmonth"),
    ("power", "pow"),
    ("ceil", "ceiling"),
    ("atan2", "atan"),
    ("sha1", "sha"),
    ("stddev", "std"),
    ("stddev_pop", "std"),
    ("var_pop", "variance"),
    ("schema", "database"),
    ("session_user", "user"),
    ("system_user", "user"),
    ("now", "current_timestamp"),
    ("substring", "substr"),
    ("mid", "substr"),
];

impl Printer {
    pub(super) fn trim(&mut self, side: Option<TrimSide>, what: Option<&Expr>, expr: &Expr) {
        self.push(match (side, what) {
            (Some(TrimSide::Leading), None) => "ltrim(",
            (Some(TrimSide::Trailing), None) => "rtrim(",
            _ => "trim(",
        });
        if let Some(what) = what {
            self.push(match side {
                Some(TrimSide::Leading) => "leading ",
                Some(TrimSide::Trailing) => "trailing ",
                _ => "both ",
            });
            self.expr(what);
            self.push(" from ");
        }
        self.expr(expr);
        self.push(")");
    }

    pub(super) fn weight_string(&mut self, weight: &WeightString) {
        self.push("weight_string(");
        self.expr(&weight.expr);
        for (word, length) in [
            (" as char(", weight.char_length),
            (" as binary(", weight.binary_length),
        ] {
            if let Some(length) = length {
                self.push(word);
                self.number(length);
                self.push(")");
            }
        }
        if !weight.levels.is_empty() {
            self.push(" level ");
            self.list(&weight.levels, ",", |p, level| {
                p.number(level.first);
                if level.last != level.first {
                    p.push("-");
                    p.number(level.last);
                }
                p.push(if level.desc { " desc" } else { "" });
                p.push(if level.reverse { " reverse" } else { "" });
            });
        }
        self.push(")");
    }

    pub(super) fn call(&mut self, call: &FunctionCall) {
        let name = match &call.db {
            Some(db) => {
                self.ident(db);
                self.push(".");
                self.ident(&call.name);
                String::new()
            }
            None => {
                let lower = call.name.value.to_ascii_lowercase();
                let shown = NAMES
                    .iter()
                    .find(|(name, _)| *name == lower)
                    .map_or(lower.clone(), |(_, n)| (*n).into());
                // A quoted name stays quoted if it could not be read again otherwise.
                if call.name.quoted
                    && !shown
                        .bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b == b'_')
                {
                    self.name(&call.name.value);
                } else {
                    self.push(&shown);
                }
                shown
            }
        };
        match (name.as_str(), call.args.as_slice()) {
            ("instr", [text, part]) => {
                self.out.truncate(self.out.len() - name.len());
                self.list_call("locate", &[part, text]);
            }
            ("bin", [number]) | ("oct", [number]) => {
                self.out.truncate(self.out.len() - name.len());
                self.push("conv(");
                self.expr(number);
                self.push(if name == "bin" { ",10,2)" } else { ",10,8)" });
            }
            ("column_create" | "column_add", args) => {
                self.push("(");
                self.list(args, ",", |p, arg| match arg {
                    Expr::Cast { expr, ty } => {
                        p.expr(expr);
                        p.push(" AS ");
                        match ty {
                            CastType::Signed => p.push("int"),
                            ty => p.cast_type(ty),
                        }
                    }
                    arg => p.expr(arg),
                });
                self.push(")");
            }
            _ => self.call_rest(call, &name),
        }
    }

    fn call_rest(&mut self, call: &FunctionCall, name: &str) {
        self.push("(");
        if call.distinct {
            self.push("distinct ");
        }
        self.list(&call.args, ",", Self::expr);
        if call.star {
            self.push("0");
        }
        if !call.order_by.is_empty() {
            self.push(" order by ");
            self.list(&call.order_by, ",", |p, item| {
                p.expr(&item.expr);
                p.push(if item.desc == Some(true) {
                    " DESC"
                } else {
                    " ASC"
                });
            });
        }
        if name == "group_concat" {
            self.push(" separator ");
            self.bytes(call.separator.as_deref().unwrap_or(b","));
        }
        if let Some(limit) = &call.limit {
            self.limit(limit);
        }
        self.push(")");
        if !call.within_group.is_empty() {
            self.push(" within group ( order by ");
            self.order_items(&call.within_group);
            self.push(")");
        }
        match &call.over {
            None => {}
            Some(Window::Named(name)) => {
                self.push(" over ");
                self.ident(name);
            }
            Some(Window::Spec(spec)) => {
                self.push(" over (");
                self.window_spec(spec);
                self.push(")");
            }
        }
    }

    pub(super) fn window_spec(&mut self, spec: &WindowSpec) {
        if let Some(base) = &spec.base {
            self.ident(base);
        }
        if !spec.partition_by.is_empty() {
            self.push(" partition by ");
            self.list(&spec.partition_by, ",", Self::expr);
        }
        if !spec.order_by.is_empty() {
            self.push(" order by ");
            self.order_items(&spec.order_by);
        }
        let Some(frame) = &spec.frame else { return };
        self.push(match frame.units {
            FrameUnits::Rows => " rows between ",
            FrameUnits::Range => " range between ",
        });
        self.frame_bound(&frame.start);
        self.push(" and ");
        self.frame_bound(frame.end.as_ref().unwrap_or(&FrameBound::CurrentRow));
        self.push(match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " exclude current row ",
            FrameExclude::Group => " exclude group ",
            FrameExclude::Ties => " exclude ties ",
        });
    }

    fn frame_bound(&mut self, bound: &FrameBound) {
        match bound {
            FrameBound::UnboundedPreceding => self.push(" unbounded  preceding "),
            FrameBound::UnboundedFollowing => self.push(" unbounded  following "),
            FrameBound::CurrentRow => self.push(" current row "),
            FrameBound::Preceding(offset) => {
                self.expr_at(offset, level::BIT_OR);
                self.push(" preceding ");
            }
            FrameBound::Following(offset) => {
                self.expr_at(offset, level::BIT_OR);
                self.push(" following ");
            }
        }
    }
}
