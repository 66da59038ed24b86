//! Plans as text: one line an operator, inputs indented, columns by name. For tests and for people.

use selkie_expr::{
    AggregateCall, CmpOp, Expr, ExprKind, FrameBound, FrameUnit, SortKey, SubqueryKind, WindowCall, WindowFunction,
};
use selkie_types::{SqlType, Value, convert};

use super::{
    Access, AssignedValue, InsertSource, JoinKind, KeyBound, KeyRange, LockMode, LockWait, Plan, QueryPlan, Statement,
    TableScan, TargetTable,
};

/// Names of slots and of correlated values.
struct Names<'a> {
    slots: &'a [String],
    outer: &'a [String],
}

impl Names<'_> {
    fn slot(&self, i: usize) -> String {
        self.slots.get(i).cloned().unwrap_or_else(|| format!("#{i}"))
    }

    fn outer(&self, i: usize) -> String {
        self.outer.get(i).map_or_else(|| format!("^{i}"), |n| format!("^{n}"))
    }
}

/// A statement's plan.
pub fn statement(s: &Statement) -> String {
    match s {
        Statement::Query(q) => query(q),
        Statement::Insert(i) => {
            let verb = if i.replace { "Replace" } else { "Insert" };
            let cols: Vec<&str> = i.columns.iter().map(|c| i.target.table.columns[*c].name.as_str()).collect();
            let mut out = format!("{verb} {} ({})", i.target.table.name, cols.join(", "));
            if i.ignore {
                out.push_str(" ignore");
            }
            out.push_str(&target(&i.target));
            let mut row: Vec<String> = i.target.table.columns.iter().map(|c| c.name.clone()).collect();
            let row_names = row.clone();
            row.extend(i.target.table.columns.iter().map(|c| format!("values({})", c.name)));
            let names = Names { slots: &row, outer: &[] };
            if !i.on_duplicate.is_empty() {
                let list: Vec<String> =
                    i.on_duplicate.iter().map(|(c, v)| assigned(&row_names[*c], v, &names)).collect();
                out.push_str(&format!(" on_duplicate=[{}]", list.join(", ")));
            }
            if let Some((e, _)) = &i.returning {
                out.push_str(&format!(" returning=[{}]", exprs(e, &names)));
            }
            out.push('\n');
            match &i.source {
                InsertSource::Values(rows) => {
                    for r in rows {
                        let names = Names { slots: &row_names, outer: &[] };
                        let list: Vec<String> = r
                            .iter()
                            .map(|v| match v {
                                AssignedValue::Expr(e) => expr(e, &names),
                                AssignedValue::Default => String::from("DEFAULT"),
                            })
                            .collect();
                        out.push_str(&format!("  ({})\n", list.join(", ")));
                    }
                }
                InsertSource::Query(q) => out.push_str(&indent(&query(q))),
            }
            out
        }
        Statement::Update(u) => {
            let (text, slots) = plan(&u.input, &[]);
            let names = Names { slots: &slots, outer: &[] };
            let mut out = String::from("Update");
            for t in &u.targets {
                let list: Vec<String> =
                    t.assignments.iter().map(|(c, v)| assigned(&t.target.table.columns[*c].name, v, &names)).collect();
                out.push_str(&format!(" {} set [{}]", t.target.table.name, list.join(", ")));
                out.push_str(&target(&t.target));
            }
            if u.materialize {
                out.push_str(" materialize");
            }
            out.push('\n');
            out.push_str(&indent(&text));
            out
        }
        Statement::Delete(d) => {
            let (text, slots) = plan(&d.input, &[]);
            let tables: Vec<&str> = d.targets.iter().map(|(t, _, _)| t.name.as_str()).collect();
            let mut out = format!("Delete {}", tables.join(", "));
            if d.materialize {
                out.push_str(" materialize");
            }
            if let Some((e, _)) = &d.returning {
                out.push_str(&format!(" returning=[{}]", exprs(e, &Names { slots: &slots, outer: &[] })));
            }
            out.push('\n');
            out.push_str(&indent(&text));
            out
        }
        Statement::Do(list) => format!("Do [{}]\n", exprs(list, &Names { slots: &[], outer: &[] })),
    }
}

fn target(t: &TargetTable) -> String {
    let mut out = String::new();
    if let Some((view, e)) = &t.view_check {
        let slots: Vec<String> = t.table.columns.iter().map(|c| c.name.clone()).collect();
        out.push_str(&format!(" check_option({view}: {})", expr(e, &Names { slots: &slots, outer: &[] })));
    }
    out
}

fn assigned(column: &str, v: &AssignedValue, names: &Names<'_>) -> String {
    match v {
        AssignedValue::Expr(e) => format!("{column} = {}", expr(e, names)),
        AssignedValue::Default => format!("{column} = DEFAULT"),
    }
}

/// A query's plan.
pub fn query(q: &QueryPlan) -> String {
    query_in(q, &[])
}

fn query_in(q: &QueryPlan, outer: &[String]) -> String {
    let mut out = plan(&q.root, outer).0;
    for s in &q.shared {
        let kind = if s.recursive.is_some() { "Recursive" } else { "Shared" };
        out.push_str(&format!("{kind} #{}{}\n", s.id, if s.distinct { " distinct" } else { "" }));
        out.push_str(&indent(&plan(&s.seed, &[]).0));
        if let Some(r) = &s.recursive {
            out.push_str(&indent(&plan(r, &[]).0));
        }
    }
    out
}

fn indent(text: &str) -> String {
    text.lines().map(|l| format!("  {l}\n")).collect()
}

fn lock(s: &TableScan) -> String {
    let mut out = match s.lock {
        LockMode::None => String::new(),
        LockMode::Share => String::from(" lock=share"),
        LockMode::Exclusive => String::from(" lock=exclusive"),
    };
    match s.wait {
        LockWait::Default => {}
        LockWait::NoWait => out.push_str(" nowait"),
        LockWait::SkipLocked => out.push_str(" skip_locked"),
        LockWait::Seconds(n) => out.push_str(&format!(" wait={n}")),
    }
    out
}

fn bound(b: &KeyBound, names: &Names<'_>) -> String {
    exprs(&b.values, names)
}

fn range(r: &KeyRange, names: &Names<'_>) -> String {
    if let (Some(l), Some(h)) = (&r.low, &r.high)
        && l.inclusive
        && h.inclusive
        && bound(l, names) == bound(h, names)
    {
        let safe = r.null_safe.iter().take(l.values.len()).any(|n| *n);
        return format!("{}({})", if safe { "<=>" } else { "=" }, bound(l, names));
    }
    let low = match &r.low {
        Some(b) => format!("{}{}", if b.inclusive { '[' } else { '(' }, bound(b, names)),
        None => String::from("(-inf"),
    };
    let high = match &r.high {
        Some(b) => format!("{}{}", bound(b, names), if b.inclusive { ']' } else { ')' }),
        None => String::from("+inf)"),
    };
    format!("{low} .. {high}")
}

fn scan(s: &TableScan, outer: &[String]) -> (String, Vec<String>) {
    let mut slots: Vec<String> =
        s.columns.iter().map(|c| format!("{}.{}", s.alias, s.table.columns[*c].name)).collect();
    if s.with_row_key {
        slots.push(format!("{}.<key>", s.alias));
    }
    let names = Names { slots: &slots, outer };
    let index = |i: &usize| s.table.indexes[*i].name.clone();
    let access = match &s.access {
        Access::Full => String::from("full"),
        Access::IndexScan { index: i } => format!("index {}", index(i)),
        Access::Point { index: i, key } => format!("point {} ({})", index(i), exprs(key, &names)),
        Access::Ranges { index: i, ranges, merge } => {
            let list: Vec<String> = ranges.iter().map(|r| range(r, &names)).collect();
            format!("range {} {}{}", index(i), list.join(" | "), if *merge { " merge" } else { "" })
        }
        Access::Empty => String::from("empty"),
    };
    let cols: Vec<&str> = s.columns.iter().map(|c| s.table.columns[*c].name.as_str()).collect();
    let mut line = if s.alias == s.table.name {
        format!("Scan {}", s.alias)
    } else {
        format!("Scan {} as {}", s.table.name, s.alias)
    };
    line.push_str(&format!(" [{}] {access}", cols.join(", ")));
    if s.covering {
        line.push_str(" covering");
    }
    if s.reverse {
        line.push_str(" reverse");
    }
    if let Some(f) = &s.filter {
        line.push_str(&format!(" filter={}", expr(f, &names)));
    }
    if let Some(p) = &s.partitions {
        let list: Vec<&str> = p.iter().map(|i| s.table.partitions[*i].name.as_str()).collect();
        line.push_str(&format!(" partitions=[{}]", list.join(", ")));
    }
    line.push_str(&lock(s));
    if s.with_row_key {
        line.push_str(" row_key");
    }
    line.push('\n');
    let subs = subqueries(s.filter.iter(), &names);
    (line + &subs, slots)
}

/// An operator and its inputs as text, with the names of its slots.
pub fn plan(p: &Plan, outer: &[String]) -> (String, Vec<String>) {
    match p {
        Plan::OneRow => (String::from("OneRow\n"), Vec::new()),
        Plan::Values { rows, types } => {
            let names = Names { slots: &[], outer };
            let list: Vec<String> = rows.iter().map(|r| format!("({})", exprs(r, &names))).collect();
            let text = if rows.is_empty() { String::from("Empty\n") } else { format!("Values {}\n", list.join(", ")) };
            (text, (1..=types.len()).map(|i| format!("col{i}")).collect())
        }
        Plan::Scan(s) => scan(s, outer),
        Plan::Virtual { db, name, columns, lookups, .. } => {
            let slots: Vec<String> = columns.iter().map(|c| format!("{name}.{c}")).collect();
            let names = Names { slots: &slots, outer };
            let list: Vec<String> = lookups.iter().map(|(c, e)| format!("{c} = {}", expr(e, &names))).collect();
            let look = if list.is_empty() { String::new() } else { format!(" lookup=[{}]", list.join(", ")) };
            (format!("Virtual {db}.{name} {columns:?}{look}\n"), slots)
        }
        Plan::SharedScan { id, delta, types } => {
            let d = if *delta { " delta" } else { "" };
            (format!("SharedScan #{id}{d}\n"), (1..=types.len()).map(|i| format!("s{id}.{i}")).collect())
        }
        Plan::Derived { plan, correlated } => {
            let names = Names { slots: &[], outer };
            let inner: Vec<String> = correlated.iter().map(|e| expr(e, &names)).collect();
            let with = if inner.is_empty() { String::new() } else { format!(" correlated=[{}]", inner.join(", ")) };
            let text = format!("Derived{with}\n{}", indent(&query_in(plan, &inner)));
            (text, plan.columns.iter().map(|c| c.name.clone()).collect())
        }
        Plan::JsonTable(t) => {
            let names = Names { slots: &[], outer };
            (format!("JsonTable {} '{}'\n", expr(&t.document, &names), t.path), Vec::new())
        }
        Plan::Filter { input, condition } => {
            let (text, slots) = plan(input, outer);
            let names = Names { slots: &slots, outer };
            let subs = subqueries([condition].into_iter(), &names);
            (format!("Filter {}\n{subs}{}", expr(condition, &names), indent(&text)), slots)
        }
        Plan::Project { input, exprs: list } => {
            let (text, slots) = plan(input, outer);
            let names = Names { slots: &slots, outer };
            let subs = subqueries(list.iter(), &names);
            let out = list.iter().map(|e| expr(e, &names)).collect();
            (format!("Project [{}]\n{subs}{}", exprs(list, &names), indent(&text)), out)
        }
        Plan::NestedLoop { kind, left, right, condition, dependent, .. } => {
            let (l, mut slots) = plan(left, outer);
            let mut inner: Vec<String> = outer.to_vec();
            inner.extend(slots.iter().cloned());
            let (r, right_slots) = plan(right, if *dependent { &inner } else { outer });
            let left_len = slots.len();
            slots.extend(right_slots);
            let on = join_condition(condition, &slots, outer);
            let how = if *dependent { "NestedLoop" } else { "NestedLoop kept" };
            if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                slots.truncate(left_len);
            }
            (format!("{how} {}{on}\n{}{}", join_kind(*kind), indent(&l), indent(&r)), slots)
        }
        Plan::HashJoin { kind, left, right, left_keys, right_keys, condition, null_aware, .. } => {
            let (l, mut slots) = plan(left, outer);
            let (r, right_slots) = plan(right, outer);
            let ln = Names { slots: &slots, outer };
            let rn = Names { slots: &right_slots, outer };
            let keys: Vec<String> =
                left_keys.iter().zip(right_keys).map(|(a, b)| format!("{} = {}", expr(a, &ln), expr(b, &rn))).collect();
            let left_len = slots.len();
            slots.extend(right_slots);
            let on = join_condition(condition, &slots, outer);
            if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                slots.truncate(left_len);
            }
            let aware = if *null_aware { " null_aware" } else { "" };
            let head = format!("HashJoin {}{aware} [{}]{on}\n", join_kind(*kind), keys.join(", "));
            (head + &indent(&l) + &indent(&r), slots)
        }
        Plan::Aggregate { input, keys, calls, rollup, sorted, first_row } => {
            let (text, slots) = plan(input, outer);
            let names = Names { slots: &slots, outer };
            let list: Vec<String> = calls.iter().map(|c| call(c, &names)).collect();
            let mut head = format!("Aggregate keys=[{}] calls=[{}]", exprs(keys, &names), list.join(", "));
            if !first_row.is_empty() {
                head.push_str(&format!(" first=[{}]", exprs(first_row, &names)));
            }
            if *rollup {
                head.push_str(" rollup");
            }
            if *sorted {
                head.push_str(" sorted");
            }
            let mut out: Vec<String> = keys.iter().map(|e| expr(e, &names)).collect();
            out.extend(list);
            out.extend(first_row.iter().map(|e| expr(e, &names)));
            (format!("{head}\n{}", indent(&text)), out)
        }
        Plan::Window { input, calls } => {
            let (text, mut slots) = plan(input, outer);
            let list: Vec<String> = calls.iter().map(|c| window(c, &Names { slots: &slots, outer })).collect();
            slots.extend(list.iter().cloned());
            (format!("Window [{}]\n{}", list.join(", "), indent(&text)), slots)
        }
        Plan::Sort { input, keys, limit } => {
            let (text, slots) = plan(input, outer);
            let names = Names { slots: &slots, outer };
            let top = limit.as_ref().map_or_else(String::new, |l| format!(" limit={}", expr(l, &names)));
            (format!("Sort [{}]{top}\n{}", sort_keys(keys, &names), indent(&text)), slots)
        }
        Plan::Limit { input, count, offset } => {
            let (text, slots) = plan(input, outer);
            let names = Names { slots: &slots, outer };
            let mut head = String::from("Limit");
            if let Some(c) = count {
                head.push_str(&format!(" {}", expr(c, &names)));
            }
            if let Some(o) = offset {
                head.push_str(&format!(" offset {}", expr(o, &names)));
            }
            (format!("{head}\n{}", indent(&text)), slots)
        }
        Plan::Distinct { input, width } => {
            let (text, slots) = plan(input, outer);
            (format!("Distinct {width}\n{}", indent(&text)), slots)
        }
        Plan::Union { inputs } => {
            let all: Vec<(String, Vec<String>)> = inputs.iter().map(|i| plan(i, outer)).collect();
            let text: String = all.iter().map(|(t, _)| indent(t)).collect();
            (format!("Union\n{text}"), all.into_iter().next().map(|(_, s)| s).unwrap_or_default())
        }
        Plan::SetOperation { left, right, except, all } => {
            let (l, slots) = plan(left, outer);
            let (r, _) = plan(right, outer);
            let op = if *except { "Except" } else { "Intersect" };
            (format!("{op}{}\n{}{}", if *all { " all" } else { "" }, indent(&l), indent(&r)), slots)
        }
    }
}

fn join_condition(c: &Option<Expr>, slots: &[String], outer: &[String]) -> String {
    c.as_ref().map_or_else(String::new, |c| format!(" on {}", expr(c, &Names { slots, outer })))
}

fn join_kind(k: JoinKind) -> &'static str {
    match k {
        JoinKind::Inner => "inner",
        JoinKind::Left => "left",
        JoinKind::Semi => "semi",
        JoinKind::Anti => "anti",
    }
}

fn sort_keys(keys: &[SortKey], names: &Names<'_>) -> String {
    let list: Vec<String> =
        keys.iter().map(|k| expr(&k.expr, names) + if k.descending { " desc" } else { "" }).collect();
    list.join(", ")
}

fn call(c: &AggregateCall, names: &Names<'_>) -> String {
    let star = if c.args.is_empty() { "*" } else { "" };
    let distinct = if c.distinct { "distinct " } else { "" };
    let order =
        if c.order_by.is_empty() { String::new() } else { format!(" order by {}", sort_keys(&c.order_by, names)) };
    format!("{}({distinct}{star}{}{order})", c.function.name(), exprs(&c.args, names))
}

fn window(w: &WindowCall, names: &Names<'_>) -> String {
    let f = match &w.function {
        WindowFunction::Aggregate(a) => call(a, names),
        WindowFunction::Rank(r, args) => format!("{r:?}({})", exprs(args, names)),
    };
    let mut over = Vec::new();
    if !w.partition_by.is_empty() {
        over.push(format!("partition by {}", exprs(&w.partition_by, names)));
    }
    if !w.order_by.is_empty() {
        over.push(format!("order by {}", sort_keys(&w.order_by, names)));
    }
    let edge = |b: &FrameBound| match b {
        FrameBound::UnboundedPreceding => String::from("unbounded preceding"),
        FrameBound::Preceding(e) => format!("{} preceding", expr(e, names)),
        FrameBound::CurrentRow => String::from("current row"),
        FrameBound::Following(e) => format!("{} following", expr(e, names)),
        FrameBound::UnboundedFollowing => String::from("unbounded following"),
    };
    let unit = match w.frame.0 {
        FrameUnit::Rows => "rows",
        FrameUnit::Range => "range",
    };
    over.push(format!("{unit} {} .. {}", edge(&w.frame.1), edge(&w.frame.2)));
    format!("{f} over ({})", over.join(" "))
}

fn exprs(list: &[Expr], names: &Names<'_>) -> String {
    list.iter().map(|e| expr(e, names)).collect::<Vec<_>>().join(", ")
}

fn type_word(ty: &SqlType) -> String {
    match ty {
        SqlType::Int { unsigned, .. } => String::from(if *unsigned { "uint" } else { "int" }),
        SqlType::Decimal { precision, scale, .. } => format!("decimal({precision},{scale})"),
        SqlType::Double { .. } | SqlType::Float { .. } => String::from("double"),
        SqlType::Text { .. } => String::from("text"),
        SqlType::Date => String::from("date"),
        SqlType::Time { .. } => String::from("time"),
        SqlType::DateTime { .. } | SqlType::Timestamp { .. } => String::from("datetime"),
        other => format!("{other:?}"),
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "not " } else { "" }
}

fn constant(v: &Value, ty: &SqlType) -> String {
    if v.is_null() {
        return String::from("NULL");
    }
    let mut out = Vec::new();
    convert::write_text(v, ty, &mut out);
    let text = String::from_utf8_lossy(&out).replace('\u{10ffff}', "^");
    if ty.is_numeric() { text } else { format!("'{text}'") }
}

fn expr(e: &Expr, n: &Names<'_>) -> String {
    let op = |o: CmpOp| match o {
        CmpOp::Eq => "=",
        CmpOp::NullSafeEq => "<=>",
        CmpOp::Ne => "<>",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
    };
    match &e.kind {
        ExprKind::Const(v) => constant(v, &e.ty),
        ExprKind::Column(i) => n.slot(*i),
        ExprKind::Correlated(i) => n.outer(*i),
        ExprKind::Param(i) => format!("?{i}"),
        ExprKind::UserVar(v) => format!("@{v}"),
        ExprKind::SetUserVar(v, x) => format!("@{v}:={}", expr(x, n)),
        ExprKind::SystemVar(_, v) => format!("@@{v}"),
        ExprKind::Cast(x) => format!("{}::{}", expr(x, n), type_word(&e.ty)),
        ExprKind::Not(x) => format!("not({})", expr(x, n)),
        ExprKind::And(v) => v.iter().map(|x| expr(x, n)).collect::<Vec<_>>().join(" and "),
        ExprKind::Or(v) => format!("({})", v.iter().map(|x| expr(x, n)).collect::<Vec<_>>().join(" or ")),
        ExprKind::Compare { op: o, left, right, .. } => format!("{} {} {}", expr(left, n), op(*o), expr(right, n)),
        ExprKind::Between { expr: x, low, high, negated, .. } => {
            format!("{} {}between {} and {}", expr(x, n), not(*negated), expr(low, n), expr(high, n))
        }
        ExprKind::InList { expr: x, list, negated, .. } => {
            format!("{} {}in ({})", expr(x, n), not(*negated), exprs(list, n))
        }
        ExprKind::IsNull { expr: x, negated } => format!("{} is {}null", expr(x, n), not(*negated)),
        ExprKind::IsBool { expr: x, value, negated } => format!("{} is {}{value}", expr(x, n), not(*negated)),
        ExprKind::Like { expr: x, pattern, negated, .. } => {
            format!("{} {}like {}", expr(x, n), not(*negated), expr(pattern, n))
        }
        ExprKind::Case { whens, otherwise } => {
            let list: Vec<String> =
                whens.iter().map(|(a, b)| format!("when {} then {}", expr(a, n), expr(b, n))).collect();
            let other = otherwise.as_ref().map_or_else(String::new, |o| format!(" else {}", expr(o, n)));
            format!("case {}{other} end", list.join(" "))
        }
        ExprKind::Call { function, args } => {
            let name = function.name();
            match args.as_slice() {
                [a, b] if !name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                    format!("({} {name} {})", expr(a, n), expr(b, n))
                }
                args => format!("{name}({})", exprs(args, n)),
            }
        }
        ExprKind::Subquery(s) => {
            let id = s.query.id % super::VOLATILE_SUBQUERY;
            match &s.kind {
                SubqueryKind::Scalar => format!("$sub{id}"),
                SubqueryKind::RowCompare { op: o, left, .. } => format!("({}) {} $sub{id}", exprs(left, n), op(*o)),
                SubqueryKind::Exists { negated } => format!("{}exists $sub{id}", not(*negated)),
                SubqueryKind::In { left, negated, .. } => {
                    format!("({}) {}in $sub{id}", exprs(left, n), not(*negated))
                }
                SubqueryKind::Quantified { op: o, all, left, .. } => {
                    format!("{} {} {} $sub{id}", expr(left, n), op(*o), if *all { "all" } else { "any" })
                }
            }
        }
        ExprKind::InsertedColumn(i) => format!("values({})", n.slot(*i)),
    }
}

/// The plans of the subqueries in expressions.
fn subqueries<'e>(list: impl Iterator<Item = &'e Expr>, names: &Names<'_>) -> String {
    let mut out = String::new();
    for e in list {
        crate::exprs::walk(e, &mut |x| {
            if let ExprKind::Subquery(s) = &x.kind
                && let Some(q) = s.query.plan.downcast_ref::<QueryPlan>()
            {
                let inner: Vec<String> = s.correlated.iter().map(|c| expr(c, names)).collect();
                let id = s.query.id % super::VOLATILE_SUBQUERY;
                out.push_str(&indent(&format!("$sub{id}:\n{}", indent(&query_in(q, &inner)))));
            }
        });
    }
    out
}
