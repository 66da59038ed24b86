//! What of a session's state bears on the grammar.

/// The flags of `sql_mode` that change what a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ParseMode {
    /// `"…"` is a name.
    pub ansi_quotes: bool,
    /// A backslash in a string is a character as any other.
    pub no_backslash_escapes: bool,
    /// `||` concatenates.
    pub pipes_as_concat: bool,
    /// Blanks may stand between a built-in function's name and its parenthesis.
    pub ignore_space: bool,
    /// `NOT` binds as `!` does.
    pub high_not_precedence: bool,
    /// `REAL` is `FLOAT`.
    pub real_as_float: bool,
}

/// The version whose executable comments are run: 10.11.0.
pub const SERVER_VERSION: u32 = 101_100;

/// How to read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseOptions {
    /// From `sql_mode`.
    pub mode: ParseMode,
    /// Executable comments of later versions are skipped; five or six digits as in `/*!101100`.
    pub version: u32,
    /// `?` is a parameter rather than an error.
    pub params: bool,
    /// Statements may follow after a `;`.
    pub multi_statements: bool,
    /// How deep expressions, queries and blocks may nest: who walks the tree may have to recurse so deep.
    /// `AND` and `OR` chains, lists and unions count as one level however long they are.
    pub max_depth: u32,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            mode: ParseMode::default(),
            version: SERVER_VERSION,
            params: false,
            multi_statements: false,
            max_depth: 500,
        }
    }
}
