//! Where a literal's place may be taken by a parameter.
//!
//! Only places are known here where nothing but the value counts: operands of comparisons and of plain arithmetic, values
//! to be stored, LIMIT. Arguments of functions may decide a result's type or scale, patterns decide how an index is used:
//! whoever has a literal there is planned each time.

use selkie_parser::ast::{self, BinaryOp, Expr, Query, SetExpr, Statement, TableRef, UnaryOp};

/// Whether all `count` parameters of a statement stand in such places.
pub fn all_plain(s: &Statement, count: usize) -> bool {
    if !super::is_cacheable(s) {
        return false;
    }
    let mut c = Counter { plain: 0 };
    match s {
        Statement::Query(q) => c.query(q),
        Statement::Insert(i) => {
            match &i.source {
                ast::InsertSource::Values(rows) => rows.iter().flatten().for_each(|e| c.operand(e)),
                ast::InsertSource::Set(row) => row.iter().for_each(|e| c.operand(e)),
                ast::InsertSource::Query(q) => c.query(q),
            }
            i.on_duplicate.iter().for_each(|a| c.operand(&a.value));
        }
        Statement::Update(u) => {
            u.tables.iter().for_each(|t| c.table(t));
            u.assignments.iter().for_each(|a| c.operand(&a.value));
            u.where_clause.iter().for_each(|e| c.condition(e));
            c.limit(u.limit.as_ref());
        }
        Statement::Delete(d) => {
            match &d.target {
                ast::DeleteTarget::Single(_) => {}
                ast::DeleteTarget::Multi { from, .. } => from.iter().for_each(|t| c.table(t)),
                ast::DeleteTarget::History { .. } => return false,
            }
            d.where_clause.iter().for_each(|e| c.condition(e));
            c.limit(d.limit.as_ref());
        }
        _ => return false,
    }
    c.plain == count
}

/// Counts the parameters that stand in plain places. The others are missing from the sum.
struct Counter {
    plain: usize,
}

impl Counter {
    fn query(&mut self, q: &Query) {
        if let Some(with) = &q.with {
            with.ctes.iter().for_each(|c| self.query(&c.query));
        }
        self.body(&q.body);
        self.limit(q.limit.as_ref());
    }

    fn body(&mut self, b: &SetExpr) {
        match b {
            SetExpr::Select(s) => {
                s.items.iter().for_each(|i| {
                    if let ast::SelectItem::Expr { expr, .. } = i {
                        self.operand(expr);
                    }
                });
                s.from.iter().for_each(|t| self.table(t));
                s.where_clause.iter().chain(&s.having).for_each(|e| self.condition(e));
            }
            SetExpr::Query(q) => self.query(q),
            SetExpr::SetOps { first, rest } => {
                self.body(first);
                rest.iter().for_each(|t| self.body(&t.term));
            }
            SetExpr::Values(_) => {}
        }
    }

    fn table(&mut self, t: &TableRef) {
        match t {
            TableRef::Derived { query, .. } => self.query(query),
            TableRef::Join(j) => {
                self.table(&j.left);
                self.table(&j.right);
                if let Some(ast::JoinCondition::On(e)) = &j.condition {
                    self.condition(e);
                }
            }
            TableRef::Nested(all) => all.iter().for_each(|t| self.table(t)),
            TableRef::Table(_) | TableRef::JsonTable(_) => {}
        }
    }

    fn limit(&mut self, l: Option<&ast::Limit>) {
        if let Some(l) = l {
            for e in [&l.count, &l.offset].into_iter().flatten() {
                self.plain += usize::from(matches!(e, Expr::Param(_)));
            }
        }
    }

    fn condition(&mut self, e: &Expr) {
        match e {
            Expr::And(all) | Expr::Or(all) => all.iter().for_each(|e| self.condition(e)),
            Expr::Unary { op: UnaryOp::Not, expr } => self.condition(expr),
            Expr::Binary { op, left, right } if is_comparison(*op) => {
                self.operand(left);
                self.operand(right);
            }
            Expr::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|e| self.operand(e)),
            Expr::InList { expr, list, .. } => {
                self.operand(expr);
                list.iter().for_each(|e| self.operand(e));
            }
            Expr::InSubquery { expr, query, .. } => {
                self.operand(expr);
                self.query(query);
            }
            Expr::Quantified { left, query, .. } => {
                self.operand(left);
                self.query(query);
            }
            Expr::Exists(q) => self.query(q),
            Expr::IsNull { expr, .. } => self.operand(expr),
            Expr::IsTruth { expr, .. } => self.condition(expr),
            // A bare value is no condition that parameters may stand in.
            Expr::Param(_) => {}
            other => self.operand(other),
        }
    }

    fn operand(&mut self, e: &Expr) {
        match e {
            Expr::Param(_) => self.plain += 1,
            Expr::Unary { op: UnaryOp::Neg, expr } => self.operand(expr),
            Expr::Binary { op, left, right } if is_arithmetic(*op) => {
                self.operand(left);
                self.operand(right);
            }
            Expr::Row(all) => all.iter().for_each(|e| self.operand(e)),
            Expr::Subquery(q) => self.query(q),
            _ => {}
        }
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Eq | NullSafeEq | Ne | Lt | Le | Gt | Ge)
}

fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Add | Sub | Mul | Div | IntDiv | Mod)
}

#[cfg(test)]
mod tests {
    use selkie_parser::digest::Digest;
    use selkie_parser::{ParseOptions, parse};

    fn plain(sql: &str) -> bool {
        let mut digest = Digest::default();
        assert!(digest.fill(sql.as_bytes(), &ParseOptions::default()), "{sql}");
        let options = ParseOptions { params: true, ..ParseOptions::default() };
        let parsed = parse(digest.text(), &options).unwrap();
        super::all_plain(&parsed.statement, digest.literals().len())
    }

    #[test]
    fn places_where_only_values_count() {
        for sql in [
            "SELECT a, 'x', ROUND(b, 2) FROM t WHERE id = 5 AND (k > 1.5 OR k IN (1, 2, 3)) ORDER BY 1 LIMIT 10, 20",
            "SELECT a FROM t JOIN s ON t.id = s.id AND s.k = 5 WHERE t.a BETWEEN 1 AND 9 HAVING a <> 'x'",
            "SELECT a FROM (SELECT * FROM t WHERE k = 5) d WHERE EXISTS (SELECT 1 FROM s WHERE s.id = d.id AND s.k = 1)",
            "SELECT a FROM t WHERE a = 1 UNION SELECT b FROM s WHERE b = -2",
            "INSERT INTO t VALUES (1, 'a', NULL, DEFAULT, -5, NOW())",
            "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = a + 1",
            "UPDATE t SET a = a * 1.1 + 5, b = 'x' WHERE id = 3 LIMIT 1",
            "DELETE FROM t WHERE (a, b) = (1, 2)",
        ] {
            assert!(plain(sql), "{sql}");
        }
    }

    #[test]
    fn places_where_more_counts() {
        for sql in [
            "SELECT a FROM t WHERE ROUND(b, 2) = c",
            "SELECT a FROM t WHERE b LIKE 'x%'",
            "SELECT a FROM t WHERE 1",
            "SELECT a FROM t WHERE a = IF(b, 1, 2)",
            "SELECT a FROM t WHERE d > NOW() - INTERVAL 1 DAY AND CAST(b AS DECIMAL(10, 2)) = CONCAT(c, 'x')",
            "SELECT a INTO @x FROM t WHERE a = 1",
            "UPDATE t SET a = CONCAT(a, 'x') WHERE id = 1",
        ] {
            assert!(!plain(sql), "{sql}");
        }
    }
}
