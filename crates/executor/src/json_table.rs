//! JSON_TABLE: rows out of a JSON text.
//!
//! Each match of the row path gives a row, or one for each row of its nested paths; nested paths beside each other take
//! turns, the columns of the others are NULL then.

use selkie_expr::json::{DEPTH_MAX, Fault, Json, Kind, Node, Path, PathFault};
use selkie_planner::plan::{JsonTable, JsonTableColumn};
use selkie_types::convert::{self, ColumnRef, ConvertCtx};
use selkie_types::{Collation, SqlError, SqlResult, SqlType, TextKind, Value, sql_err};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::Operator;
use crate::row_input::row_bytes;

/// A running JSON_TABLE.
pub struct JsonTableScan<'p> {
    plan: &'p JsonTable,
    level: Option<Level<'p>>,
    width: usize,
    rows: Option<Vec<Value>>,
    next: usize,
    charged: usize,
}

/// The columns of a path, with the slots that they fill.
struct Level<'p> {
    path: Path,
    own: Vec<(usize, Own<'p>)>,
    nested: Vec<Level<'p>>,
}

enum Own<'p> {
    Ordinality,
    Path { path: Path, column: &'p JsonTableColumn },
}

fn path(text: &str) -> SqlResult<Path> {
    Path::parse(text.as_bytes()).map_err(|e| match e {
        PathFault::End => sql_err!(ER_JSON_PATH_EOS, 2, "JSON_TABLE"),
        PathFault::Syntax(at) => sql_err!(ER_JSON_PATH_SYNTAX, 2, "JSON_TABLE", at + 1),
    })
}

fn text_fault(fault: Fault) -> SqlError {
    match fault {
        Fault::End => sql_err!(ER_JSON_EOS, 1, "JSON_TABLE"),
        Fault::Syntax(at) => sql_err!(ER_JSON_SYNTAX, 1, "JSON_TABLE", at + 1),
        Fault::Depth(at) => sql_err!(ER_JSON_DEPTH, DEPTH_MAX, 1, "JSON_TABLE", at + 1),
    }
}

impl<'p> Level<'p> {
    fn new(row_path: &str, columns: &'p [JsonTableColumn], slot: &mut usize) -> SqlResult<Level<'p>> {
        let mut level = Level { path: path(row_path)?, own: Vec::new(), nested: Vec::new() };
        for c in columns {
            let own = match c {
                JsonTableColumn::Ordinality => Own::Ordinality,
                JsonTableColumn::Path { path: p, .. } => Own::Path { path: path(p)?, column: c },
                JsonTableColumn::Nested { path, columns } => {
                    level.nested.push(Level::new(path, columns, slot)?);
                    continue;
                }
            };
            level.own.push((*slot, own));
            *slot += 1;
        }
        Ok(level)
    }

    /// Makes NULL what this level and those below fill.
    fn blank(&self, row: &mut [Value]) {
        self.own.iter().for_each(|(slot, _)| row[*slot] = Value::Null);
        self.nested.iter().for_each(|n| n.blank(row));
    }
}

/// What rows are made with.
struct Maker<'a, 'c, 'p> {
    cx: &'a mut ExecCtx<'c>,
    plan: &'p JsonTable,
    json: Json<'a>,
    row: Vec<Value>,
    out: Vec<Value>,
    count: u64,
}

impl Maker<'_, '_, '_> {
    /// Adds the rows of a level under a node. Returns how many.
    fn level(&mut self, level: &Level<'_>, node: &Node) -> SqlResult<u64> {
        let before = self.count;
        for (i, found) in level.path.find(&self.json, node).into_iter().enumerate() {
            self.cx.tick()?;
            self.cx.diag.current_row = self.count + 1;
            for (slot, own) in &level.own {
                self.row[*slot] = match own {
                    Own::Ordinality => Value::UInt(i as u64 + 1),
                    Own::Path { path, column } => self.column(path, column, &found)?,
                };
            }
            level.nested.iter().for_each(|n| n.blank(&mut self.row));
            let start = self.count;
            for n in &level.nested {
                self.level(n, &found)?;
                n.blank(&mut self.row);
            }
            if self.count == start {
                self.out.extend_from_slice(&self.row);
                self.count += 1;
            }
        }
        Ok(self.count - before)
    }

    fn column(&mut self, path: &Path, column: &JsonTableColumn, node: &Node) -> SqlResult<Value> {
        let JsonTableColumn::Path { name, ty, exists, on_empty, on_error, .. } = column else { return Ok(Value::Null) };
        let alias = &self.plan.alias;
        let matches = path.find(&self.json, node);
        if *exists {
            return self.store(Value::bool(!matches.is_empty()), &SqlType::BIGINT, ty, name);
        }
        let text = SqlType::varchar(u16::MAX as u32, Collation::UTF8MB4_GENERAL_CI);
        let (instead, error) = match matches.as_slice() {
            [] => (on_empty, sql_err!(ER_JSON_TABLE_ERROR_ON_FIELD, name, alias)),
            [found] => {
                let json = self.json;
                let bytes = json.bytes(found);
                if is_json(ty) {
                    return self.store(Value::bytes(bytes), &text, ty, name);
                }
                match json.kind(found) {
                    Kind::Null => return Ok(Value::Null),
                    Kind::String => return self.store(Value::bytes(&json.string(found)), &text, ty, name),
                    k @ (Kind::True | Kind::False) if !ty.is_string() => {
                        return self.store(Value::bool(k == Kind::True), &SqlType::BIGINT, ty, name);
                    }
                    Kind::Number | Kind::True | Kind::False => return self.store(Value::bytes(bytes), &text, ty, name),
                    Kind::Object | Kind::Array => (on_error, sql_err!(ER_JSON_TABLE_SCALAR_EXPECTED, name, alias)),
                }
            }
            _ => (on_error, sql_err!(ER_JSON_TABLE_MULTIPLE_MATCHES, name, alias)),
        };
        match instead {
            None => Err(error),
            Some(None) => Ok(Value::Null),
            Some(Some(default)) => self.store(Value::text(default), &text, ty, name),
        }
    }

    /// Converts a value to the column's type; what does not fit is a warning.
    fn store(&mut self, v: Value, from: &SqlType, to: &SqlType, name: &str) -> SqlResult<Value> {
        let column = ColumnRef { db: "*any*", table: "json_table", column: name };
        let mut cx = ConvertCtx {
            sql_mode: self.cx.settings.sql_mode,
            time_zone: &self.cx.settings.time_zone,
            now_utc_micros: self.cx.settings.now_utc_micros,
            diag: self.cx.diag,
            ignore: true,
        };
        convert::store(v, from, to, column, &mut cx)
    }
}

/// JSON columns are LONGTEXT in utf8mb4_bin: they take any value, as it is written.
fn is_json(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Text { kind: TextKind::LongText, collation, .. } if collation.name() == "utf8mb4_bin")
}

impl<'p> JsonTableScan<'p> {
    /// A scan that has not begun.
    pub fn new(plan: &'p JsonTable, width: usize) -> JsonTableScan<'p> {
        JsonTableScan { plan, level: None, width, rows: None, next: 0, charged: 0 }
    }

    fn start(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<Vec<Value>> {
        let level = match &self.level {
            Some(l) => l,
            None => self.level.insert(Level::new(&self.plan.path, &self.plan.columns, &mut 0)?),
        };
        let document = self.plan.document.eval(&[], cx)?;
        if document.is_null() {
            return Ok(Vec::new());
        }
        let text = convert::text_of(&document, &self.plan.document.ty);
        let (json, root) = Json::parse(&text).map_err(text_fault)?;
        let outer_row = cx.diag.current_row;
        let row = vec![Value::Null; self.width];
        let mut maker = Maker { cx, plan: self.plan, json, row, out: Vec::new(), count: 0 };
        maker.level(level, &root)?;
        let rows = maker.out;
        cx.diag.current_row = outer_row;
        self.charged = row_bytes(&rows);
        cx.charge(self.charged as isize)?;
        Ok(rows)
    }
}

impl Operator for JsonTableScan<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width);
        if self.rows.is_none() {
            self.rows = Some(self.start(cx)?);
        }
        let rows = self.rows.as_deref_mut().unwrap_or_default();
        while !out.is_full() && self.next < rows.len() {
            out.push(rows[self.next..self.next + self.width].iter_mut().map(std::mem::take));
            self.next += self.width;
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.rows = None;
        self.next = 0;
        cx.charge(-(std::mem::take(&mut self.charged) as isize))
    }

    fn width(&self) -> usize {
        self.width
    }
}

#[cfg(test)]
mod tests {
    use selkie_expr::Expr;
    use selkie_planner::plan::{JsonTable, JsonTableColumn, Plan};
    use selkie_types::{Collation, SqlType, Value};

    use crate::testing::{Fixture, INT};

    fn text(len: u32) -> SqlType {
        SqlType::varchar(len, Collation::UTF8MB4_GENERAL_CI)
    }

    fn column(ty: SqlType, path: &str) -> JsonTableColumn {
        JsonTableColumn::Path {
            name: "c".into(),
            ty,
            path: path.into(),
            exists: false,
            on_empty: Some(None),
            on_error: Some(None),
        }
    }

    fn table(document: &str, path: &str, columns: Vec<JsonTableColumn>) -> Plan {
        let document = Expr::constant(Value::text(document), text(100));
        Plan::JsonTable(Box::new(JsonTable { document, path: path.into(), columns, alias: "t".into() }))
    }

    #[test]
    fn columns_take_scalars_and_defaults() {
        let mut a = column(INT, "$.a");
        if let JsonTableColumn::Path { on_empty, on_error, .. } = &mut a {
            (*on_empty, *on_error) = (Some(Some("77".into())), Some(Some("88".into())));
        }
        let mut e = column(INT, "$.a");
        if let JsonTableColumn::Path { exists, .. } = &mut e {
            *exists = true;
        }
        let columns = vec![JsonTableColumn::Ordinality, a, e, column(text(3), "$.b")];
        let plan = table(
            r#"[{"a":1,"b":"xyzw"},{"a":true},3,{"a":[1,2]},{"a":"5q"},{"a":null},{"b":false}]"#,
            "$[*]",
            columns,
        );
        let expected =
            ["1,1,1,xyz", "2,1,1,NULL", "3,77,0,NULL", "4,88,1,NULL", "5,5,1,NULL", "6,NULL,1,NULL", "7,77,0,fal"];
        assert_eq!(Fixture::default().text(&plan), expected);
    }

    #[test]
    fn nested_paths_take_turns() {
        let nested = |path: &str, columns| JsonTableColumn::Nested { path: path.into(), columns };
        let columns = vec![
            column(INT, "$.a"),
            nested("$.n[*]", vec![column(INT, "$"), JsonTableColumn::Ordinality]),
            nested("$.m[*]", vec![column(INT, "$.q")]),
        ];
        let plan = table(r#"[{"a":1,"n":[10,20],"m":[{"q":5},{"q":6}]},{"a":2,"n":[]}]"#, "$[*]", columns);
        let expected = ["1,10,1,NULL", "1,20,2,NULL", "1,NULL,NULL,5", "1,NULL,NULL,6", "2,NULL,NULL,NULL"];
        assert_eq!(Fixture::default().text(&plan), expected);
    }

    #[test]
    fn errors_name_the_column_and_the_table() {
        let fail = |document: &str, path: &str| {
            let mut c = column(INT, path);
            if let JsonTableColumn::Path { on_empty, on_error, .. } = &mut c {
                (*on_empty, *on_error) = (None, None);
            }
            Fixture::default().rows(&table(document, "$[*]", vec![c])).unwrap_err().message().to_owned()
        };
        assert_eq!(fail("[{}]", "$.b"), "Field 'c' can't be set for JSON_TABLE 't'.");
        assert_eq!(fail("[[1]]", "$"), "Can't store an array or an object in the scalar column 'c' of JSON_TABLE 't'.");
        assert_eq!(
            fail("[[1,2]]", "$[*]"),
            "Can't store multiple matches of the path in the column 'c' of JSON_TABLE 't'."
        );
        assert_eq!(fail("[1,", "$"), "Unexpected end of JSON text in argument 1 to function 'JSON_TABLE'");
        assert_eq!(fail("[1]", "x"), "Syntax error in JSON path in argument 2 to function 'JSON_TABLE' at position 1");
    }
}
