//! SELECT … INTO: variables, or a file on the server's machine.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use selkie_executor::query;
use selkie_parser::ast;
use selkie_planner::plan::{self, OutputColumn, QueryPlan};
use selkie_types::{Charset, SqlResult, SqlType, Value, convert, sql_err};

use super::files;
use super::format::Format;
use super::outfile::{RowFormatter, is_ambiguous};
use crate::client::Client;
use crate::session::{Answer, Done, Session};
use crate::status::bump;

impl Session {
    /// SELECT … INTO variables or a file.
    pub fn run_select_into(
        &mut self,
        client: &mut Client,
        statement: &ast::Statement,
        into: &ast::SelectInto,
        text: &[u8],
        answer: Answer,
    ) -> SqlResult<()> {
        let ready = self.plan(statement, &[])?;
        self.run_query_into(client, &ready, &[], into, text, answer)
    }

    /// Runs a planned query into variables or a file.
    pub(crate) fn run_query_into(
        &mut self,
        client: &mut Client,
        ready: &crate::dml::Ready,
        params: &[Value],
        into: &ast::SelectInto,
        text: &[u8],
        answer: Answer,
    ) -> SqlResult<()> {
        let plan::Statement::Query(q) = &ready.planned.statement else { return Err(sql_err!(ER_UNKNOWN_ERROR)) };
        self.check_privileges(ready)?;
        bump(&self.instance.status.com_select);
        let rows = self.as_statement(false, text, |s| match into {
            ast::SelectInto::Vars(vars) => s.select_into_vars(q, params, vars),
            ast::SelectInto::Outfile { path, charset, fields, lines } => {
                let charset = match charset {
                    Some(name) => {
                        Some(Charset::by_name(name).ok_or_else(|| sql_err!(ER_UNKNOWN_CHARACTER_SET, name))?)
                    }
                    None => None,
                };
                let format = Format::new(fields, lines, charset.unwrap_or(Charset::Utf8mb4))?;
                s.require("FILE")?;
                s.select_into_outfile(q, params, &path.to_text(), &format, charset)
            }
            ast::SelectInto::Dumpfile(path) => {
                s.require("FILE")?;
                s.select_into_dumpfile(q, params, &path.to_text())
            }
        })?;
        self.host.row_count = rows as i64;
        self.host.found_rows = rows;
        self.write_ok(client, &Done { affected: rows, ..Done::default() }, answer.more);
        Ok(())
    }

    fn select_into_vars(&mut self, q: &QueryPlan, params: &[Value], vars: &[ast::IntoVar]) -> SqlResult<u64> {
        if vars.len() != q.columns.len() {
            return Err(sql_err!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        let mut names = Vec::with_capacity(vars.len());
        for v in vars {
            match v {
                ast::IntoVar::User(name) => names.push(name.value.clone()),
                ast::IntoVar::Local { name, .. } => return Err(sql_err!(ER_SP_UNDECLARED_VAR, name.value)),
            }
        }
        let mut rows = 0;
        let limit = self.host.hot.select_limit;
        let mut cx = self.exec(params);
        query::run(&mut cx, q, &mut |cx, row| {
            if rows >= limit {
                return Ok(false);
            }
            rows += 1;
            if rows > 1 {
                return Err(sql_err!(ER_TOO_MANY_ROWS));
            }
            for ((name, value), column) in names.iter().zip(row).zip(&q.columns) {
                cx.session.set_user_var(name, value.clone(), column.ty.clone());
            }
            Ok(true)
        })?;
        drop(cx);
        if rows == 0 {
            self.diag.warn(sql_err!(ER_SP_FETCH_NO_DATA));
        }
        Ok(rows)
    }

    fn select_into_outfile(
        &mut self,
        q: &QueryPlan,
        params: &[Value],
        path: &str,
        format: &Format,
        charset: Option<Charset>,
    ) -> SqlResult<u64> {
        if format.is_fixed() && q.columns.iter().any(|c| is_blob(&c.ty)) {
            return Err(sql_err!(ER_BLOBS_AND_NO_TERMINATED));
        }
        if format.has_non_ascii() {
            self.diag.warn(sql_err!(WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED));
        }
        if is_ambiguous(format) {
            self.diag.warn(sql_err!(ER_AMBIGUOUS_FIELD_TERM));
        }
        let connection = self.host.hot.collation_connection.charset();
        let columns: Vec<FileColumn> = q.columns.iter().map(|c| FileColumn::new(c, charset, connection)).collect();
        let formatter = RowFormatter::new(format);
        let mut texts: Vec<Option<Vec<u8>>> = vec![None; columns.len()];
        self.write_rows_to_file(q, params, path, &mut |_, row, out| {
            for ((text, value), column) in texts.iter_mut().zip(row).zip(&columns) {
                column.text(value, text);
            }
            if format.is_fixed() {
                let fields = texts.iter().zip(&columns);
                formatter.write_fixed(fields.map(|(t, c)| (t.as_deref().unwrap_or(b""), c.width)), out);
            } else {
                let fields = texts.iter().zip(&columns);
                formatter.write_row(fields.map(|(t, c)| t.as_deref().map(|t| (t, c.is_text))), out);
            }
            Ok(())
        })
    }

    fn select_into_dumpfile(&mut self, q: &QueryPlan, params: &[Value], path: &str) -> SqlResult<u64> {
        let connection = self.host.hot.collation_connection.charset();
        let columns: Vec<FileColumn> = q.columns.iter().map(|c| FileColumn::new(c, None, connection)).collect();
        let mut text = None;
        self.write_rows_to_file(q, params, path, &mut |n, row, out| {
            if n > 1 {
                return Err(sql_err!(ER_TOO_MANY_ROWS));
            }
            for (value, column) in row.iter().zip(&columns) {
                column.text(value, &mut text);
                out.extend_from_slice(text.as_deref().unwrap_or(b""));
            }
            Ok(())
        })
    }

    /// Writes each row (with its number from 1) as `encode` has it into a new file, which does not stay if that fails.
    fn write_rows_to_file(&mut self, q: &QueryPlan, params: &[Value], path: &str, encode: Encode<'_>) -> SqlResult<u64> {
        let mut file = NewFile::create(&self.host, path)?;
        let limit = self.host.hot.select_limit;
        let mut rows = 0;
        let mut bytes = Vec::new();
        let mut cx = self.exec(params);
        query::run(&mut cx, q, &mut |_, row| {
            if rows >= limit {
                return Ok(false);
            }
            rows += 1;
            bytes.clear();
            encode(rows, &row[..q.columns.len()], &mut bytes)?;
            file.write(&bytes)?;
            Ok(true)
        })?;
        file.finish()?;
        Ok(rows)
    }
}

type Encode<'a> = &'a mut dyn FnMut(u64, &[Value], &mut Vec<u8>) -> SqlResult<()>;

/// Whether values have no length that would make a fixed width.
pub(super) fn is_blob(ty: &SqlType) -> bool {
    use selkie_types::TextKind;
    matches!(ty, SqlType::Text { kind, .. } if !matches!(kind, TextKind::Char | TextKind::VarChar))
}

/// How a result column stands in a file.
struct FileColumn {
    ty: SqlType,
    /// Bytes in a file of fixed widths.
    width: usize,
    /// Quoted under OPTIONALLY ENCLOSED.
    is_text: bool,
    /// The character set to write, where it is not UTF-8.
    charset: Option<Charset>,
}

impl FileColumn {
    /// Without a set for the whole file, each column is written in its own.
    fn new(c: &OutputColumn, charset: Option<Charset>, connection: Charset) -> FileColumn {
        let own = c.ty.collation().filter(|cl| !cl.is_binary()).map(|cl| cl.charset());
        let set = own.map(|own| match charset {
            None | Some(Charset::Binary) => own,
            Some(set) => set,
        });
        FileColumn {
            ty: c.ty.clone(),
            width: c.ty.wire_length(set.unwrap_or(connection)) as usize,
            is_text: !c.ty.is_numeric(),
            charset: set.filter(|s| !matches!(s, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary)),
        }
    }

    fn text(&self, value: &Value, out: &mut Option<Vec<u8>>) {
        if value.is_null() {
            *out = None;
            return;
        }
        let bytes = out.get_or_insert_default();
        bytes.clear();
        convert::write_text(value, &self.ty, bytes);
        if let Some(charset) = self.charset
            && !bytes.is_ascii()
        {
            *bytes = charset.encode(bytes).0.into_owned();
        }
    }
}

/// A file that is removed unless it is finished.
struct NewFile {
    out: BufWriter<File>,
    path: PathBuf,
    finished: bool,
}

impl NewFile {
    fn create(host: &crate::host::Host, name: &str) -> SqlResult<NewFile> {
        let (file, path) = files::create(host, name)?;
        Ok(NewFile { out: BufWriter::new(file), path, finished: false })
    }

    fn write(&mut self, bytes: &[u8]) -> SqlResult<()> {
        self.out.write_all(bytes).map_err(|e| files::write_error(&self.path, &e))
    }

    fn finish(mut self) -> SqlResult<()> {
        self.out.flush().map_err(|e| files::write_error(&self.path, &e))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            // Half a result helps nobody; if it cannot be removed either, the error of the statement still stands.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
