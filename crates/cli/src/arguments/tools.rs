//! Flags of the offline tools that slapd's programs have counterparts in.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{SchemaFlags, StoreFlags, SuffixFlag};

/// Which configuration a tool works by: TOML, or slapd's own.
#[derive(Debug, Args)]
pub(crate) struct ConfigFlags {
    /// Settings from this TOML file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slapd_conf", "slapd_dir"])]
    pub(crate) config: Option<PathBuf>,
    /// Settings from a configuration file of slapd's
    #[arg(
        short = 'f',
        long = "slapd-conf",
        value_name = "FILE",
        conflicts_with = "slapd_dir"
    )]
    pub(crate) slapd_conf: Option<PathBuf>,
    /// Settings from a configuration directory of slapd's
    #[arg(short = 'F', long = "slapd-dir", value_name = "DIR")]
    pub(crate) slapd_dir: Option<PathBuf>,
}

/// Build, drop or rebuild indexes, also beside a running server
///
/// What is added is built in the background: in small transactions, between which others get their turn. Searches use
/// an index when it is complete. Ended early, the work goes on where it stopped with the next call.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite index --add mail:sub --data /var/lib/fulgurite\n  fulgurite index --status --data /var/lib/fulgurite\n  fulgurite index --rebuild --data /var/lib/fulgurite"
)]
pub(crate) struct Index {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
    /// Keep this index from now on: an attribute and any of eq, pres, sub, approx. Repeatable
    #[arg(long, value_name = "ATTRIBUTE:KINDS")]
    pub(crate) add: Vec<String>,
    /// Give up the indexes of this attribute. Repeatable
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) remove: Vec<String>,
    /// Make all indexes again, or those of the attributes named
    #[arg(long, value_name = "ATTRIBUTE", num_args = 0.., conflicts_with_all = ["add", "remove", "status"])]
    pub(crate) rebuild: Option<Vec<String>>,
    /// Say which indexes there are, and how far those are that are being built
    #[arg(long, conflicts_with_all = ["add", "remove"])]
    pub(crate) status: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Apply change records of LDIF to a store, without a server
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite modify --data /var/lib/fulgurite changes.ldif")]
pub(crate) struct Modify {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) suffix: SuffixFlag,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
    /// Go on after a change that is refused
    #[arg(long, short = 'c')]
    pub(crate) r#continue: bool,
    /// Check everything, change nothing
    #[arg(long, short = 'u')]
    pub(crate) dry_run: bool,
    /// LDIF files; `-` is standard input
    #[arg(value_name = "FILE.ldif", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Make the hash of a password, for userPassword or the root password
///
/// Without a source the password is asked for twice on the terminal.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite passwd --scheme '{ARGON2}'")]
pub(crate) struct Passwd {
    /// Scheme, such as {ARGON2}, {SSHA} or {CRYPT} [default: {ARGON2}]
    #[arg(long, value_name = "SCHEME")]
    pub(crate) scheme: Option<String>,
    /// Read the password from a file: all of it, a line end included
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,
    /// Invent a password and print it
    #[arg(long)]
    pub(crate) generate: bool,
    /// Salt of {CRYPT}, in the format of printf, such as $6$%.16s
    #[arg(long, value_name = "FORMAT")]
    pub(crate) crypt_salt: Option<String>,
}

/// Show the forms of names, or what is wrong with them
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite dn 'CN=Smith\\, J. , DC=Example'")]
pub(crate) struct DnForms {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// Print only the normal form, in which equal names are equal text
    #[arg(long, short = 'N', conflicts_with = "pretty")]
    pub(crate) normal: bool,
    /// Print only the form that clients are shown
    #[arg(long, short = 'P')]
    pub(crate) pretty: bool,
    /// Names
    #[arg(value_name = "DN", required = true)]
    pub(crate) names: Vec<String>,
}

/// Try which name an authentication identity is mapped to
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite auth -f slapd.conf --mechanism EXTERNAL uid=x,cn=auth"
)]
pub(crate) struct Auth {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// The identity that has authenticated
    #[arg(long, short = 'U', value_name = "ID")]
    pub(crate) user: Option<String>,
    /// The identity it wants to act as
    #[arg(long, short = 'X', value_name = "ID")]
    pub(crate) authorize: Option<String>,
    /// SASL mechanism
    #[arg(long, short = 'M', value_name = "MECHANISM")]
    pub(crate) mechanism: Option<String>,
    /// SASL realm
    #[arg(long, short = 'R', value_name = "REALM")]
    pub(crate) realm: Option<String>,
    /// Further identities
    #[arg(value_name = "ID")]
    pub(crate) identities: Vec<String>,
}

/// Questions about access rules
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Access {
    #[command(subcommand)]
    pub(crate) question: AccessQuestion,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AccessQuestion {
    Explain(Explain),
}

/// Say what an identity may do to an entry, and which rule in which line decides it
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite access explain -f slapd.conf --as uid=x,dc=example --entry uid=y,dc=example userPassword/write"
)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// Who asks; anonymous without it
    #[arg(long = "as", short = 'D', value_name = "DN")]
    pub(crate) subject: Option<String>,
    /// The entry
    #[arg(long, short = 'b', value_name = "DN")]
    pub(crate) entry: String,
    /// Take the entry to be empty, without a look into the store
    #[arg(long, short = 'u')]
    pub(crate) dry_run: bool,
    /// Facts about the connection, such as peername=IP=127.0.0.1:9, sockurl=ldap:///, ssf=256. Repeatable
    #[arg(long = "given", short = 'o', value_name = "FACT=VALUE")]
    pub(crate) given: Vec<String>,
    /// Attributes, as ATTRIBUTE, ATTRIBUTE/LEVEL or ATTRIBUTE/LEVEL:VALUE; all without any
    #[arg(value_name = "ATTRIBUTE[/LEVEL][:VALUE]")]
    pub(crate) attributes: Vec<String>,
}

/// Find entries that the schema does not allow
///
/// Exit status: 0 all entries are allowed, 1 some are not.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite schema-check --data /var/lib/fulgurite")]
pub(crate) struct SchemaCheck {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
    /// Look only at entries that match this filter
    #[arg(long, value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Look only at this entry and what is below it
    #[arg(long, value_name = "DN")]
    pub(crate) subtree: Option<String>,
}

/// Show how a search is planned, what each part of its filter finds, and which index is missing
///
/// `expected` is what the plan reckons with at most, `looked at` how many entries were candidates, `found` how many of
/// them match. Works beside a running server. Access rules play no part.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite explain --data /var/lib/fulgurite '(&(l=Altenwerder)(title=Engineer))'"
)]
pub(crate) struct ExplainSearch {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
    /// Where the search begins [default: the suffix]
    #[arg(long, short, value_name = "DN")]
    pub(crate) base: Option<String>,
    /// How far it reaches
    #[arg(long, short, value_enum, default_value_t = ExplainScope::Sub)]
    pub(crate) scope: ExplainScope,
    /// The filter
    #[arg(value_name = "FILTER")]
    pub(crate) filter: String,
}

/// Scope of a search, in the words of ldapsearch.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum ExplainScope {
    Base,
    One,
    Sub,
    Children,
}

/// Load what an OpenLDAP server of release 2.4 to 2.6 has in its mdb database, without a dump
///
/// Reads the environment itself, also while that server runs, and changes nothing in it. Entries keep
/// their operational attributes, the order of their ids, and the order of attributes and values.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite import --from /var/lib/ldap --data /var/lib/fulgurite -f /etc/ldap/slapd.conf"
)]
pub(crate) struct Import {
    /// Directory of OpenLDAP's database, with its data.mdb
    #[arg(long, value_name = "DIR")]
    pub(crate) from: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
    /// Take schema and indexes from a configuration file of slapd's
    #[arg(short = 'f', long = "slapd-conf", value_name = "FILE")]
    pub(crate) slapd_conf: Option<PathBuf>,
    /// Take attributes that the schema does not define as octet strings, and entries that it does not allow as they are
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Leave entries out that cannot be read or taken, and say which
    #[arg(long, short = 'c')]
    pub(crate) r#continue: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Check or show the configuration
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    Check(CheckConfig),
    Show(ShowConfig),
}

/// Say whether a configuration can be used, with the line and a hint for what is wrong
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite config check /etc/fulgurite.toml")]
pub(crate) struct CheckConfig {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// The configuration: TOML, slapd.conf or a configuration directory, told apart by name and content
    #[arg(value_name = "FILE", conflicts_with_all = ["config", "slapd_conf", "slapd_dir"])]
    pub(crate) file: Option<PathBuf>,
    /// Do not look at the stores, only at the configuration
    #[arg(long, short = 'u')]
    pub(crate) no_stores: bool,
}

/// Print the settings that hold
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite config show --resolved -f /etc/ldap/slapd.conf")]
pub(crate) struct ShowConfig {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// The configuration: TOML, slapd.conf or a configuration directory, told apart by name and content
    #[arg(value_name = "FILE", conflicts_with_all = ["config", "slapd_conf", "slapd_dir"])]
    pub(crate) file: Option<PathBuf>,
    /// Print every setting, defaults included, and where each comes from
    #[arg(long)]
    pub(crate) resolved: bool,
}
