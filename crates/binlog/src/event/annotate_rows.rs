//! Annotate_rows: the statement behind the rows events that follow.

use bytes::Bytes;

/// Annotate_rows event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotateRows {
    /// The statement, in its client's character set.
    pub text: Bytes,
}
