//! SET in all its forms, and SET STATEMENT … FOR.
//!
//! A SET first resolves all its items ([`Change`]s: names found, values evaluated and checked), and only then applies
//! them, so that an error in one leaves all as they were. What a variable means to other parts of the server happens in
//! [`hooks`].
//!
//! It must not know how values are stored or shown.

mod charset;
mod hooks;
mod value;

use selkie_parser::ast::{self, IsolationLevel, RoleChoice, SetItem, SetValue, VarScope};
use selkie_types::{SqlResult, SqlType, Value, convert, sql_err};

use crate::client::Client;
use crate::session::{Answer, Session};
use crate::variables::{self, Scope, TABLE, VarDef};

/// One resolved item of a SET.
enum Change {
    /// `@name`
    User { name: String, value: Value, ty: SqlType },
    /// A system variable's new text, by position in [`TABLE`].
    System { index: usize, global: bool, text: String, value: Value },
    /// SET TRANSACTION for the next one only.
    NextTransaction { isolation: Option<IsolationLevel>, read_only: Option<bool> },
    /// SET PASSWORD
    Password(ast::SetPassword),
    /// SET ROLE
    Role(Option<String>),
    /// SET DEFAULT ROLE
    DefaultRole { role: Option<String>, user: Option<ast::UserName> },
}

/// Variables that SET STATEMENT refuses.
const NOT_IN_SET_STATEMENT: &[&str] = &[
    "autocommit", "character_set_client", "character_set_connection", "character_set_filesystem",
    "collation_connection", "default_master_connection", "debug_sync", "gtid_domain_id", "gtid_seq_no", "interactive_timeout",
    "last_insert_id", "log_disabled_statements", "pseudo_slave_mode", "pseudo_thread_id", "server_id", "skip_replication", "sql_log_bin",
    "rand_seed1", "rand_seed2", "tx_isolation", "tx_read_only",
];

impl Session {
    /// Runs SET.
    pub fn run_set(&mut self, s: &ast::Set) -> SqlResult<()> {
        let mut changes = Vec::with_capacity(s.items.len());
        for item in &s.items {
            self.resolve(item, &mut changes)?;
        }
        changes.into_iter().try_for_each(|c| self.apply(c))
    }

    /// Runs a statement with some variables changed for its time.
    pub fn run_set_statement(
        &mut self,
        client: &mut Client,
        s: &ast::SetStatementFor,
        text: &[u8],
        answer: Answer,
    ) -> SqlResult<()> {
        let mut changes = Vec::new();
        for item in &s.items {
            self.resolve(item, &mut changes)?;
        }
        for c in &changes {
            let Change::System { index, global, .. } = c else { continue };
            let def = &TABLE[*index];
            if *global || NOT_IN_SET_STATEMENT.contains(&def.name) {
                return Err(sql_err!(ER_SET_STATEMENT_NOT_SUPPORTED, def.name));
            }
        }
        let before = self.host.vars.clone();
        let mut result = changes.into_iter().try_for_each(|c| self.apply(c));
        if result.is_ok() {
            result = self.execute(client, &s.statement, text, answer);
        }
        self.host.vars = before;
        self.host.refresh_hot();
        result
    }

    fn resolve(&mut self, item: &SetItem, out: &mut Vec<Change>) -> SqlResult<()> {
        match item {
            SetItem::UserVar { name, value } => {
                let (value, ty) = self.set_value(value, false)?;
                out.push(Change::User { name: name.value.to_lowercase(), value, ty });
                Ok(())
            }
            SetItem::Variable { scope, base, name, value, .. } => {
                if let Some(base) = base
                    && !base.is("default")
                {
                    return Err(sql_err!(ER_UNKNOWN_STRUCTURED_VARIABLE, base.value));
                }
                self.resolve_variable(*scope, &name.value, value, out)
            }
            SetItem::Names { charset, collation } => {
                charset::names(self, charset.as_deref(), collation.as_deref(), out)
            }
            SetItem::CharacterSet(charset) => charset::character_set(self, charset.as_deref(), out),
            SetItem::Transaction { scope: None, isolation, read_only } => {
                if self.host.in_transaction {
                    return Err(sql_err!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
                }
                out.push(Change::NextTransaction { isolation: *isolation, read_only: *read_only });
                Ok(())
            }
            SetItem::Transaction { scope, isolation, read_only } => {
                let global = *scope == Some(VarScope::Global);
                if global {
                    self.require_one_of(&["SUPER"])?;
                }
                if let Some(level) = isolation {
                    out.push(change(self, "tx_isolation", global, isolation_word(*level)));
                }
                if let Some(read_only) = read_only {
                    out.push(change(self, "tx_read_only", global, if *read_only { "ON" } else { "OFF" }));
                }
                Ok(())
            }
            SetItem::Password(p) => {
                out.push(Change::Password(p.clone()));
                Ok(())
            }
            SetItem::Role(role) => {
                let role = self.role_of(role)?;
                out.push(Change::Role(role));
                Ok(())
            }
            SetItem::DefaultRole { role, user } => {
                let role = self.role_of(role)?;
                out.push(Change::DefaultRole { role, user: user.clone() });
                Ok(())
            }
        }
    }

    fn role_of(&mut self, role: &RoleChoice) -> SqlResult<Option<String>> {
        Ok(match role {
            RoleChoice::None => None,
            RoleChoice::Role(name) if name == "CURRENT_ROLE" => self.host.account.active_role.clone(),
            RoleChoice::Role(name) => Some(name.clone()),
            RoleChoice::Expr(e) => {
                let (value, ty) = self.set_value(e, true)?;
                match value {
                    Value::Null => None,
                    v => Some(text_of(&v, &ty)).filter(|t| !t.eq_ignore_ascii_case("none")),
                }
            }
        })
    }

    fn resolve_variable(
        &mut self,
        scope: Option<VarScope>,
        name: &str,
        value: &SetValue,
        out: &mut Vec<Change>,
    ) -> SqlResult<()> {
        let index = variables::find(name).ok_or_else(|| sql_err!(ER_UNKNOWN_SYSTEM_VARIABLE, name))?;
        let def = &TABLE[index];
        let global = scope == Some(VarScope::Global);
        check_scope(def, global)?;
        self.check_set_privilege(def, global)?;
        self.check_state(def, global)?;
        let (given, ty) = match value {
            SetValue::Default => {
                let text = self.default_of(index, global);
                let value = def.value(&text);
                return self.push_system(index, global, text, value, out);
            }
            SetValue::Expr(e) => self.set_value(e, true)?,
        };
        let text = self.accept(def, index, global, &given, &ty)?;
        self.push_system(index, global, text, given, out)
    }

    fn push_system(
        &mut self,
        index: usize,
        global: bool,
        text: String,
        value: Value,
        out: &mut Vec<Change>,
    ) -> SqlResult<()> {
        out.push(Change::System { index, global, text, value });
        if let Some(Change::System { text, .. }) = out.last() {
            // The partner of a character set or collation follows it.
            let partner = charset::partner(TABLE[index].name, text);
            if let Some((name, text)) = partner {
                out.push(change(self, name, global, &text));
            }
        }
        Ok(())
    }

    /// DEFAULT: the compiled value for a global, the global one for a session.
    fn default_of(&self, index: usize, global: bool) -> String {
        let def = &TABLE[index];
        if global || def.scope == Scope::SessionOnly {
            variables::Values::defaults().at(index).to_owned()
        } else {
            self.instance().globals.read().at(index).to_owned()
        }
    }

    /// The value of an expression. `bare_words`: a lone name is a string.
    fn set_value(&mut self, e: &ast::Expr, bare_words: bool) -> SqlResult<(Value, SqlType)> {
        if let Some(quick) = value::literal(e) {
            return Ok(quick);
        }
        if let ast::Expr::Column(c) = e
            && bare_words
            && c.table.is_none()
        {
            return Ok((Value::text(&c.name.value), value::text_type()));
        }
        // Evaluating is a small transaction; SET TRANSACTION's choice is for the next one.
        let (isolation, read_only) = (self.next_isolation.take(), self.next_read_only.take());
        let result = self.eval_expr(e);
        (self.next_isolation, self.next_read_only) = (isolation, read_only);
        result
    }

    fn apply(&mut self, c: Change) -> SqlResult<()> {
        match c {
            Change::User { name, value, ty } => {
                self.host.user_vars.insert(name, (value, ty));
                Ok(())
            }
            Change::System { index, global: true, text, .. } => {
                self.host.instance.globals.write().set(index, &text);
                self.global_changed(TABLE[index].name, &text)
            }
            Change::System { index, global: false, text, value } => {
                self.before_session_change(TABLE[index].name, &text, &value)?;
                self.host.vars.set(index, &text);
                self.host.refresh_hot();
                Ok(())
            }
            Change::NextTransaction { isolation, read_only } => {
                if let Some(level) = isolation {
                    self.next_isolation = Some(variables::isolation(isolation_word(level)));
                }
                if read_only.is_some() {
                    self.next_read_only = read_only;
                }
                Ok(())
            }
            Change::Password(p) => {
                self.commit_implicitly()?;
                self.set_password(&p)
            }
            Change::Role(role) => self.set_role(role.as_deref()),
            Change::DefaultRole { role, user } => {
                self.commit_implicitly()?;
                self.set_default_role(role.as_deref(), user.as_ref())
            }
        }
    }
}

/// A change of a variable that this server knows to exist.
fn change(session: &Session, name: &str, global: bool, text: &str) -> Change {
    let index = variables::find(name).unwrap_or(0);
    debug_assert_eq!(TABLE[index].name, name, "in {}", session.host.connection.id);
    Change::System { index, global, text: text.to_owned(), value: Value::text(text) }
}

fn check_scope(def: &VarDef, global: bool) -> SqlResult<()> {
    if def.read_only {
        return Err(sql_err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, def.name, "read only"));
    }
    match (global, def.scope) {
        (true, Scope::SessionOnly) => Err(sql_err!(ER_LOCAL_VARIABLE, def.name)),
        (true, _) if def.name == "sql_log_bin" => Err(sql_err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, def.name, "SESSION")),
        (false, Scope::Global) => Err(sql_err!(ER_GLOBAL_VARIABLE, def.name)),
        (false, _) if matches!(def.name, "max_allowed_packet" | "net_buffer_length" | "max_user_connections") => {
            Err(sql_err!(ER_VARIABLE_IS_READONLY, "SESSION", def.name, "GLOBAL"))
        }
        _ => Ok(()),
    }
}

fn isolation_word(level: IsolationLevel) -> &'static str {
    match level {
        IsolationLevel::ReadUncommitted => "READ-UNCOMMITTED",
        IsolationLevel::ReadCommitted => "READ-COMMITTED",
        IsolationLevel::RepeatableRead => "REPEATABLE-READ",
        IsolationLevel::Serializable => "SERIALIZABLE",
    }
}

fn text_of(v: &Value, ty: &SqlType) -> String {
    String::from_utf8_lossy(&convert::text_of(v, ty)).into_owned()
}
