//! The options of the command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures an LDAP server.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// The kind of question.
    #[arg(value_enum)]
    pub(crate) workload: Kind,
    /// The server, as address and port.
    #[arg(long, default_value = "127.0.0.1:3890")]
    pub(crate) server: String,
    /// The LDIF that was loaded; names and values of its entries with a uid are asked for.
    #[arg(long)]
    pub(crate) ldif: Option<PathBuf>,
    /// Where searches begin.
    #[arg(long, default_value = "dc=example,dc=org")]
    pub(crate) base: String,
    /// The filter of `scan`.
    #[arg(long, default_value = "(objectClass=*)")]
    pub(crate) filter: String,
    /// Entries that each `scan` has to return; whatever the first one returns, if not given.
    #[arg(long)]
    pub(crate) expect_entries: Option<u64>,
    /// Connections at once.
    #[arg(long, default_value_t = 4)]
    pub(crate) connections: usize,
    /// Requests outstanding on each connection.
    #[arg(long, default_value_t = 1)]
    pub(crate) depth: u32,
    /// Requests in all.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) requests: u64,
    /// No new requests after this many seconds.
    #[arg(long)]
    pub(crate) seconds: Option<u64>,
    /// Answers are counted and not looked at: for servers that answer anything.
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// The group that `group-add` adds members to.
    #[arg(long, default_value = "cn=big,ou=groups,dc=example,dc=com")]
    pub(crate) group: String,
    /// Pieces of `substring-initial`, `-any` and `-final` match at most this many entries each.
    #[arg(long, default_value_t = 100)]
    pub(crate) matches_max: u64,
    /// Prints the filter of the first request and asks nothing.
    #[arg(long)]
    pub(crate) show: bool,
    /// Prints the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Threads of the load generator.
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Binds each connection as this DN first.
    #[arg(long, requires = "password")]
    pub(crate) bind_dn: Option<String>,
    /// Password for --bind-dn, and for the users of the workload `bind`. `{}` is the end of the
    /// uid, behind its last full stop.
    #[arg(long)]
    pub(crate) password: Option<String>,
    /// Process id of the server, to tell the CPU time it took.
    #[arg(long)]
    pub(crate) server_pid: Option<u32>,
    /// Begins the line of the report.
    #[arg(long, default_value = "")]
    pub(crate) label: String,
    /// Seed of the order in which entries are asked for, and of the pieces of names.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Search the whole tree for one uid.
    Uid,
    /// Search the whole tree for one mail address.
    Mail,
    /// Search the whole tree for an account by its address of delivery, or by its alias, in turn.
    MailServer,
    /// Search the whole tree for the last word of one cn, at any position.
    Substring,
    /// Search the whole tree for the beginning of a cn, 4 to 12 bytes of it.
    SubstringInitial,
    /// Search the whole tree for 4 to 12 bytes of a cn, from a random position.
    SubstringAny,
    /// Search the whole tree for the end of a cn, 4 to 12 bytes of it.
    SubstringFinal,
    /// Read one entry by its name.
    Base,
    /// Search the whole tree for a uid that nobody has.
    Missing,
    /// Search the whole tree by a filter, all attributes.
    Scan,
    /// Bind as one of the users.
    Bind,
    /// Compare one of the users' mail address with what it is.
    Compare,
    /// Replace the description of one of the users.
    Modify,
    /// Replace the givenName of one of the users, which is indexed.
    ModifyIndexed,
    /// Add new users.
    Add,
    /// Add the entries of --ldif, in their order. There are no more requests than entries.
    AddLdif,
    /// Delete what `add` with the same seed and number of requests has added.
    Delete,
    /// Add one member to the group named by --group.
    GroupAdd,
    /// Ask who we are: a request that reads nothing.
    Whoami,
}
