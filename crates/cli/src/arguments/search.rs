//! Flags of `fulgurite search`.

use clap::{Args, ValueEnum};

use super::server::{BaseFlag, FormatFlags, ServerFlags};

/// Search a running server
///
/// A table has a column for each attribute that is named. Without attributes it shows each entry
/// line by line.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite search '(uid=ada)'\n  fulgurite search '(objectClass=inetOrgPerson)' uid cn mail --csv\n  fulgurite search -s base -b '' '(objectClass=*)' '*' +"
)]
pub(crate) struct Search {
    /// Filter [default: (objectClass=*)]
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Attributes; * has all of users, + all operational ones
    #[arg(value_name = "ATTRIBUTE")]
    pub(crate) attributes: Vec<String>,
    /// How far the search reaches
    #[arg(short, long, value_enum, default_value_t = SearchScope::Sub)]
    pub(crate) scope: SearchScope,
    /// Entries at most
    #[arg(
        short = 'z',
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) size_limit: u32,
    /// Entries of one page
    #[arg(long, value_name = "NUMBER", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) page: u32,
    #[command(flatten)]
    pub(crate) format: FormatFlags,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// The scope of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchScope {
    /// The entry of --base
    Base,
    /// The entries one level below it
    One,
    /// The entry and all below it
    Sub,
    /// All below the entry
    Children,
}
