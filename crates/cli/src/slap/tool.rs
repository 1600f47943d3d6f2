//! The names of slapd's programs.

use std::ffi::OsStr;

/// One of slapd's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The server.
    Slapd,
    /// Adds LDIF to a database.
    Slapadd,
    /// Writes a database as LDIF.
    Slapcat,
    /// Prints the forms of DNs.
    Slapdn,
    /// Rebuilds indexes.
    Slapindex,
    /// Applies change records.
    Slapmodify,
    /// Hashes a password.
    Slappasswd,
    /// Checks entries against the schema.
    Slapschema,
    /// Checks the configuration.
    Slaptest,
    /// Tests identity mapping.
    Slapauth,
    /// Tests access rules.
    Slapacl,
}

/// All tools, in the order in which `-T` searches for an abbreviation.
const TOOLS: [Tool; 10] = [
    Tool::Slapadd,
    Tool::Slapcat,
    Tool::Slapdn,
    Tool::Slapindex,
    Tool::Slapmodify,
    Tool::Slappasswd,
    Tool::Slapschema,
    Tool::Slaptest,
    Tool::Slapauth,
    Tool::Slapacl,
];

impl Tool {
    /// Returns the program's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Slapd => "slapd",
            Tool::Slapadd => "slapadd",
            Tool::Slapcat => "slapcat",
            Tool::Slapdn => "slapdn",
            Tool::Slapindex => "slapindex",
            Tool::Slapmodify => "slapmodify",
            Tool::Slappasswd => "slappasswd",
            Tool::Slapschema => "slapschema",
            Tool::Slaptest => "slaptest",
            Tool::Slapauth => "slapauth",
            Tool::Slapacl => "slapacl",
        }
    }

    pub(super) fn named(name: &OsStr) -> Option<Tool> {
        let mut all = TOOLS.into_iter().chain([Tool::Slapd]);
        all.find(|tool| name == tool.name())
    }

    /// Returns the tool of a mode of `-T`: its name without `slap`, or a prefix of that.
    pub(super) fn of_mode(mode: &[u8]) -> Option<Tool> {
        let begins = |tool: &Tool| {
            tool.name()
                .as_bytes()
                .strip_prefix(b"slap")
                .is_some_and(|rest| rest.starts_with(mode))
        };
        TOOLS.into_iter().find(begins).filter(|_| !mode.is_empty())
    }
}
