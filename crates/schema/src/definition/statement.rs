//! One statement: a line of a `.schema` or configuration file, or a value in LDIF.

/// A keyword and its value.
#[derive(Debug)]
pub(crate) struct Statement {
    /// Line on which it starts, from 1.
    pub(crate) line: usize,
    /// In lower case.
    pub(crate) keyword: String,
    pub(crate) value: String,
}
