//! Queries as text.

use super::Printer;
use crate::ast::{
    IndexHint, IndexHintAction, IndexHintScope, IntoVar, Join, JoinCondition, JoinKind,
    JsonTableColumn, JsonTableOn, Limit, LockStrength, LockWait, NamedTable, ObjectName, OrderItem,
    Query, Select, SelectInto, SelectItem, SetExpr, SetOp, SystemTime, SystemTimePoint, TableRef,
    With,
};
use crate::keywords;

impl Printer {
    /// A query; `named` if every item of its list gets an alias, as in a view.
    pub(super) fn query(&mut self, query: &Query, named: bool) {
        if let Some(with) = &query.with {
            self.with(with);
        }
        self.set_expr(&query.body, named);
        self.order_by(&query.order_by);
        if let Some(limit) = &query.limit {
            self.limit(limit);
        }
        if let Some(procedure) = &query.procedure {
            self.push(" procedure ");
            self.push(&procedure.name.value);
            self.push("(");
            self.list(&procedure.args, ",", Self::expr);
            self.push(")");
        }
        if let Some(into) = &query.into {
            self.into(into);
        }
        if let Some(locking) = &query.locking {
            self.push(match locking.strength {
                LockStrength::Update => " for update",
                LockStrength::Share => " lock in share mode",
            });
            match locking.wait {
                Some(LockWait::NoWait) => self.push(" nowait"),
                Some(LockWait::Wait(seconds)) => {
                    self.push(" wait ");
                    self.number(seconds);
                }
                Some(LockWait::SkipLocked) => self.push(" skip locked"),
                None => {}
            }
        }
    }

    fn with(&mut self, with: &With) {
        self.push(if with.recursive {
            "with recursive "
        } else {
            "with "
        });
        self.list(&with.ctes, ",", |p, cte| {
            // Without quotes, as MariaDB has it, where that can be read back.
            let plain = cte
                .name
                .value
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && cte
                    .name
                    .value
                    .starts_with(|c: char| c.is_ascii_alphabetic())
                && keywords::lookup(cte.name.value.as_bytes()).is_none();
            if plain {
                p.push(&cte.name.value);
            } else {
                p.ident(&cte.name);
            }
            if !cte.columns.is_empty() {
                p.push("(");
                p.idents(&cte.columns);
                p.push(")");
            }
            p.push(" as (");
            p.query(&cte.query, true);
            p.push(")");
            if !cte.cycle.is_empty() {
                p.push(" CYCLE ");
                p.idents(&cte.cycle);
                p.push(" RESTRICT ");
            }
        });
    }

    fn set_expr(&mut self, body: &SetExpr, named: bool) {
        match body {
            SetExpr::Select(select) => self.select(select, named),
            SetExpr::Values(rows) => {
                self.push("values ");
                self.list(rows, ",", |p, row| {
                    p.push("(");
                    p.list(row, ",", Self::expr);
                    p.push(")");
                });
            }
            SetExpr::Query(query) => {
                self.push("(");
                self.query(query, named);
                self.push(")");
            }
            SetExpr::SetOps { first, rest } => {
                self.set_operand(first, named);
                for term in rest {
                    self.push(match term.op {
                        SetOp::Union => " union ",
                        SetOp::Except => " except ",
                        SetOp::Intersect => " intersect ",
                    });
                    if term.all {
                        self.push("all ");
                    }
                    self.set_operand(&term.term, named);
                }
            }
        }
    }

    /// An operand of a set operation; only intersections bind tightly enough to go without parentheses.
    fn set_operand(&mut self, operand: &SetExpr, named: bool) {
        let loose = match operand {
            SetExpr::SetOps { rest, .. } => rest.iter().any(|term| term.op != SetOp::Intersect),
            _ => false,
        };
        if loose {
            self.push("(");
        }
        self.set_expr(operand, named);
        if loose {
            self.push(")");
        }
    }

    fn select(&mut self, select: &Select, named: bool) {
        self.push("select ");
        let options = &select.options;
        let words = [
            (options.straight_join, "straight_join "),
            (options.high_priority, "high_priority "),
            (options.distinct, "distinct "),
            (options.small_result, "sql_small_result "),
            (options.big_result, "sql_big_result "),
            (options.buffer_result, "sql_buffer_result "),
            (options.calc_found_rows, "sql_calc_found_rows "),
            (options.cache == Some(false), "sql_no_cache "),
            (options.cache == Some(true), "sql_cache "),
        ];
        for (given, word) in words {
            if given {
                self.push(word);
            }
        }
        self.list(&select.items, ",", |p, item| p.select_item(item, named));
        if !select.from.is_empty() {
            self.push(" from ");
            self.table_refs(&select.from);
        } else if select.where_clause.is_some() || select.from_dual && !select.group_by.is_empty() {
            self.push(" from DUAL ");
        }
        if let Some(condition) = &select.where_clause {
            self.push(" where ");
            self.condition(condition);
        }
        if !select.group_by.is_empty() {
            self.push(" group by ");
            self.order_items(&select.group_by);
            if select.with_rollup {
                self.push(" with rollup");
            }
        }
        if let Some(condition) = &select.having {
            self.push(" having ");
            self.condition(condition);
        }
        if !select.windows.is_empty() {
            self.push(" window ");
            self.list(&select.windows, ",", |p, window| {
                p.ident(&window.name);
                p.push(" as (");
                p.window_spec(&window.spec);
                p.push(")");
            });
        }
    }

    fn select_item(&mut self, item: &SelectItem, named: bool) {
        match item {
            SelectItem::Wildcard { db, table } => {
                for part in [db, table].into_iter().flatten() {
                    self.ident(part);
                    self.push(".");
                }
                self.push("*");
            }
            SelectItem::Expr { expr, alias, .. } => {
                self.expr(expr);
                if (named || alias.is_some())
                    && let Some(name) = item.column_name()
                {
                    self.push(" AS ");
                    self.name(&name);
                }
            }
        }
    }

    fn order_by(&mut self, items: &[OrderItem]) {
        if !items.is_empty() {
            self.push(" order by ");
            self.order_items(items);
        }
    }

    pub(super) fn order_items(&mut self, items: &[OrderItem]) {
        self.list(items, ",", |p, item| {
            p.expr(&item.expr);
            if item.desc == Some(true) {
                p.push(" desc");
            }
        });
    }

    pub(super) fn limit(&mut self, limit: &Limit) {
        match (&limit.count, &limit.offset) {
            (Some(count), offset) if limit.with_ties => {
                if let Some(offset) = offset {
                    self.push(" offset ");
                    self.expr(offset);
                    self.push(" rows");
                }
                self.push(" fetch first ");
                self.expr(count);
                self.push(" rows with ties");
            }
            (Some(count), offset) => {
                self.push(" limit ");
                if let Some(offset) = offset {
                    self.expr(offset);
                    self.push(",");
                }
                self.expr(count);
            }
            (None, Some(offset)) => {
                self.push(" offset ");
                self.expr(offset);
                self.push(" rows");
            }
            (None, None) => self.push(" limit"),
        }
        if let Some(examined) = &limit.rows_examined {
            self.push(" rows examined ");
            self.expr(examined);
        }
    }

    fn into(&mut self, into: &SelectInto) {
        self.push(" into ");
        match into {
            SelectInto::Vars(vars) => self.list(vars, ",", |p, var| match var {
                IntoVar::User(name) => {
                    p.push("@");
                    p.ident(name);
                }
                IntoVar::Local { name, field } => {
                    p.ident(name);
                    if let Some(field) = field {
                        p.push(".");
                        p.ident(field);
                    }
                }
            }),
            SelectInto::Dumpfile(path) => {
                self.push("dumpfile ");
                self.string(path);
            }
            SelectInto::Outfile {
                path,
                charset,
                fields,
                lines,
            } => {
                self.push("outfile ");
                self.string(path);
                if let Some(charset) = charset {
                    self.push(" character set ");
                    self.push(charset);
                }
                let enclosed = if fields.optionally_enclosed {
                    "optionally enclosed by "
                } else {
                    "enclosed by "
                };
                let clauses = [
                    ("terminated by ", &fields.terminated_by),
                    (enclosed, &fields.enclosed_by),
                    ("escaped by ", &fields.escaped_by),
                ];
                self.file_clause(" fields ", &clauses);
                let clauses = [
                    ("starting by ", &lines.starting_by),
                    ("terminated by ", &lines.terminated_by),
                ];
                self.file_clause(" lines ", &clauses);
            }
        }
    }

    fn file_clause(&mut self, head: &str, clauses: &[(&str, &Option<Vec<u8>>)]) {
        let given: Vec<_> = clauses
            .iter()
            .filter_map(|(word, text)| text.as_ref().map(|text| (word, text)))
            .collect();
        if given.is_empty() {
            return;
        }
        self.push(head);
        self.list(&given, " ", |p, (word, text)| {
            p.push(word);
            p.bytes(text);
        });
    }

    pub(super) fn object_name(&mut self, name: &ObjectName) {
        if let Some(db) = &name.db {
            self.ident(db);
            self.push(".");
        }
        self.ident(&name.name);
    }

    /// A list of references as one join.
    fn table_refs(&mut self, refs: &[TableRef]) {
        for _ in 1..refs.len() {
            self.push("(");
        }
        for (n, table) in refs.iter().enumerate() {
            if n > 0 {
                self.push(" join ");
            }
            self.table_ref(table);
            if n > 0 {
                self.push(")");
            }
        }
    }

    fn table_ref(&mut self, table: &TableRef) {
        match table {
            TableRef::Table(table) => self.named_table(table),
            TableRef::Derived {
                lateral,
                query,
                alias,
                columns,
            } => {
                if *lateral {
                    self.push("lateral ");
                }
                self.push("(");
                self.query(query, true);
                self.push(")");
                if let Some(alias) = alias {
                    self.push(" ");
                    self.ident(alias);
                }
                if !columns.is_empty() {
                    self.push("(");
                    self.idents(columns);
                    self.push(")");
                }
            }
            TableRef::JsonTable(table) => {
                self.push("JSON_TABLE(");
                self.expr(&table.doc);
                self.push(", ");
                self.string(&table.path);
                self.push(" ");
                self.json_columns(&table.columns);
                self.push(") ");
                self.ident(&table.alias);
            }
            TableRef::Join(join) => self.join(join),
            TableRef::Nested(refs) => self.table_refs(refs),
        }
    }

    fn join(&mut self, join: &Join) {
        // `a RIGHT JOIN b` is `b LEFT JOIN a`, but a natural join's columns would change their order.
        let turned =
            join.kind == JoinKind::Right && matches!(join.condition, Some(JoinCondition::On(_)));
        let (left, right) = if turned {
            (&join.right, &join.left)
        } else {
            (&join.left, &join.right)
        };
        self.push("(");
        self.table_ref(left);
        if join.natural {
            self.push(" natural");
        }
        self.push(match join.kind {
            JoinKind::Inner => " join ",
            JoinKind::Straight => " straight_join ",
            JoinKind::Left => " left join ",
            JoinKind::Right if turned => " left join ",
            JoinKind::Right => " right join ",
        });
        self.table_ref(right);
        match &join.condition {
            Some(JoinCondition::On(condition)) => {
                self.push(" on(");
                self.condition(condition);
                self.push(")");
            }
            Some(JoinCondition::Using(columns)) => {
                self.push(" using (");
                self.idents(columns);
                self.push(")");
            }
            None => {}
        }
        self.push(")");
    }

    fn named_table(&mut self, table: &NamedTable) {
        self.object_name(&table.name);
        if !table.partitions.is_empty() {
            self.push(" PARTITION (");
            self.idents(&table.partitions);
            self.push(")");
        }
        if let Some(time) = &table.system_time {
            self.system_time(time);
        }
        if let Some(portion) = &table.portion {
            self.push(" FOR PORTION OF ");
            self.ident(&portion.period);
            self.push(" FROM ");
            self.expr(&portion.from);
            self.push(" TO ");
            self.expr(&portion.to);
        }
        if let Some(alias) = &table.alias {
            self.push(" ");
            self.ident(alias);
        }
        for hint in &table.index_hints {
            self.index_hint(hint);
        }
    }

    fn index_hint(&mut self, hint: &IndexHint) {
        self.push(match hint.action {
            IndexHintAction::Use => " USE INDEX ",
            IndexHintAction::Force => " FORCE INDEX ",
            IndexHintAction::Ignore => " IGNORE INDEX ",
        });
        self.push(match hint.scope {
            IndexHintScope::All => "",
            IndexHintScope::Join => "FOR JOIN ",
            IndexHintScope::OrderBy => "FOR ORDER BY ",
            IndexHintScope::GroupBy => "FOR GROUP BY ",
        });
        self.push("(");
        self.idents(&hint.indexes);
        self.push(")");
    }

    fn system_time(&mut self, time: &SystemTime) {
        self.push(" FOR SYSTEM_TIME ");
        match time {
            SystemTime::All => self.push("ALL"),
            SystemTime::AsOf(point) => {
                self.push("AS OF ");
                self.time_point(point);
            }
            SystemTime::FromTo(from, to) => {
                self.push("FROM ");
                self.time_point(from);
                self.push(" TO ");
                self.time_point(to);
            }
            SystemTime::Between(from, to) => {
                self.push("BETWEEN ");
                self.time_point(from);
                self.push(" AND ");
                self.time_point(to);
            }
            SystemTime::Before(point) => {
                self.push("BEFORE ");
                self.time_point(point);
            }
        }
    }

    fn time_point(&mut self, point: &SystemTimePoint) {
        self.push(if point.transaction {
            "TRANSACTION "
        } else {
            "TIMESTAMP "
        });
        // In parentheses, a literal is no operand of the word before it.
        self.push("(");
        self.expr(&point.expr);
        self.push(")");
    }

    fn json_columns(&mut self, columns: &[JsonTableColumn]) {
        self.push("COLUMNS (");
        self.list(columns, ", ", |p, column| match column {
            JsonTableColumn::Ordinality(name) => {
                p.ident(name);
                p.push(" FOR ORDINALITY");
            }
            JsonTableColumn::Path {
                name,
                ty,
                path,
                exists,
                on_empty,
                on_error,
            } => {
                p.ident(name);
                p.push(" ");
                p.data_type(ty);
                p.push(if *exists { " EXISTS PATH " } else { " PATH " });
                p.string(path);
                p.json_response(on_empty.as_ref(), " ON EMPTY");
                p.json_response(on_error.as_ref(), " ON ERROR");
            }
            JsonTableColumn::Nested { path, columns } => {
                p.push("NESTED PATH ");
                p.string(path);
                p.push(" ");
                p.json_columns(columns);
            }
        });
        self.push(")");
    }

    fn json_response(&mut self, response: Option<&JsonTableOn>, when: &str) {
        match response {
            None => return,
            Some(JsonTableOn::Error) => self.push(" ERROR"),
            Some(JsonTableOn::Null) => self.push(" NULL"),
            Some(JsonTableOn::Default(literal)) => {
                self.push(" DEFAULT ");
                self.literal(literal);
            }
        }
        self.push(when);
    }
}
