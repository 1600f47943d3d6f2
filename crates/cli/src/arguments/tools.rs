//! Flags of the offline tools that correspond to programs of slapd.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use fulgurite_config::{ConfigError, DatabaseChoice, Layer, Settings};

use crate::flags::{self, OfChange, OfStore, SettingFlags};
use crate::slapd_places;

/// The configuration of a tool, as TOML or in slapd's formats.
#[derive(Debug, Args)]
pub(crate) struct ConfigFlags {
    /// Settings from this TOML file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slapd_conf", "slapd_dir"])]
    pub(crate) config: Option<PathBuf>,
    /// Settings from a configuration file of slapd
    #[arg(
        short = 'f',
        long = "slapd-conf",
        value_name = "FILE",
        conflicts_with = "slapd_dir"
    )]
    pub(crate) slapd_conf: Option<PathBuf>,
    /// Settings from a configuration directory of slapd
    #[arg(short = 'F', long = "slapd-dir", value_name = "DIR")]
    pub(crate) slapd_dir: Option<PathBuf>,
}

impl ConfigFlags {
    /// Returns the settings of a file or directory. A TOML file overrides the environment.
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        match (&self.slapd_conf, &self.slapd_dir) {
            (Some(file), _) => Settings::new(Layer::from_slapd_conf(file)?),
            (None, Some(dir)) => Settings::new(Layer::from_config_dir(dir)?),
            (None, None) => flags::settings(
                Layer::default(),
                self.config.as_deref(),
                DatabaseChoice::All,
            ),
        }
    }
}

/// Build, drop or rebuild indexes, also while a server runs
///
/// The command builds new indexes in small transactions, so that other writers can continue.
/// Searches use an index once it is complete. If the command ends early, the next call continues
/// the work.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite index --add mail:sub --data /var/lib/fulgurite\n  fulgurite index --status --data /var/lib/fulgurite\n  fulgurite index --rebuild --data /var/lib/fulgurite"
)]
pub(crate) struct Index {
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfChange>,
    /// Add this index: an attribute and any of eq, pres, sub, approx. Repeatable
    #[arg(long, value_name = "ATTRIBUTE:KINDS")]
    pub(crate) add: Vec<String>,
    /// Drop the indexes of this attribute. Repeatable
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) remove: Vec<String>,
    /// Rebuild all indexes, or those of the given attributes
    #[arg(long, value_name = "ATTRIBUTE", num_args = 0.., conflicts_with_all = ["add", "remove", "status"])]
    pub(crate) rebuild: Option<Vec<String>>,
    /// List the indexes and the progress of unfinished ones
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
    pub(crate) flags: SettingFlags<OfChange>,
    /// Continue after a refused change
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
    /// Generate a password and print it
    #[arg(long)]
    pub(crate) generate: bool,
    /// Salt of {CRYPT}, in the format of printf, such as $6$%.16s
    #[arg(long, value_name = "FORMAT")]
    pub(crate) crypt_salt: Option<String>,
}

/// Show the forms of DNs, or their errors
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite dn 'CN=Smith\\, J. , DC=Example'")]
pub(crate) struct DnForms {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// Print only the normal form, in which equal names are equal text
    #[arg(long, short = 'N', conflicts_with = "pretty")]
    pub(crate) normal: bool,
    /// Print only the pretty form, which clients get
    #[arg(long, short = 'P')]
    pub(crate) pretty: bool,
    /// DNs
    #[arg(value_name = "DN", required = true)]
    pub(crate) names: Vec<String>,
}

/// Map authentication identities to DNs, as a bind does
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite auth -f slapd.conf --mechanism EXTERNAL uid=x,cn=auth"
)]
pub(crate) struct Auth {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// The authenticated identity
    #[arg(long, short = 'U', value_name = "ID")]
    pub(crate) user: Option<String>,
    /// The identity to act as
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

/// Explain access rules
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Access {
    #[command(subcommand)]
    pub(crate) question: AccessAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AccessAction {
    Explain(Explain),
}

/// Show the rights of an identity to an entry, with the rule and line that decide
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite access explain -f slapd.conf --as uid=x,dc=example --entry uid=y,dc=example userPassword/write"
)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// DN of the requester [default: anonymous]
    #[arg(long = "as", short = 'D', value_name = "DN")]
    pub(crate) subject: Option<String>,
    /// The entry
    #[arg(long, short = 'b', value_name = "DN")]
    pub(crate) entry: String,
    /// Assume an empty entry; do not read the store
    #[arg(long, short = 'u')]
    pub(crate) dry_run: bool,
    /// Facts about the connection, such as peername=IP=127.0.0.1:9 or ssf=256. Repeatable
    #[arg(long = "given", short = 'o', value_name = "FACT=VALUE")]
    pub(crate) given: Vec<String>,
    /// Attributes, as ATTRIBUTE, ATTRIBUTE/LEVEL or ATTRIBUTE/LEVEL:VALUE [default: all]
    #[arg(value_name = "ATTRIBUTE[/LEVEL][:VALUE]")]
    pub(crate) attributes: Vec<String>,
}

/// Find entries that violate the schema
///
/// Exit status: 0 all entries conform, 1 some do not.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite schema-check --data /var/lib/fulgurite")]
pub(crate) struct SchemaCheck {
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfChange>,
    /// Check only entries that match this filter
    #[arg(long, value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Check only this entry and its subtree
    #[arg(long, value_name = "DN")]
    pub(crate) subtree: Option<String>,
    /// Ask the overlays `unique` and `constraint` about all entries too; updates of a server wait
    /// meanwhile
    #[arg(long, conflicts_with_all = ["filter", "subtree"])]
    pub(crate) overlays: bool,
}

/// Show the plan of a search, the results of each part of its filter, and missing indexes
///
/// `expected` is the planner's upper bound, `looked at` the number of candidates, `found` the
/// number of matches. `planning` is the time of the look-up in the indexes. `reading` is that of
/// reading the candidates and testing the filter. The first line is the whole search. Each part of
/// the filter follows, as a search for that part alone. Works while a server runs. Access rules
/// have no effect.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite explain --data /var/lib/fulgurite '(&(l=Altenwerder)(title=Engineer))'"
)]
pub(crate) struct ExplainSearch {
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfChange>,
    /// Base of the search [default: the suffix]
    #[arg(long, short, value_name = "DN")]
    pub(crate) base: Option<String>,
    /// Scope of the search
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

/// Load the mdb database of an OpenLDAP server, release 2.4 to 2.6, without a dump
///
/// Reads the environment directly, also while that server runs, and changes nothing in it. Entries
/// keep their operational attributes, the order of their ids, and the order of attributes and
/// values.
///
/// Schema and indexes are those of slapd's configuration. -F, -f or --config names it. Otherwise
/// the command looks in /etc/ldap and /etc/openldap for one with that database.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite import --from /var/lib/ldap --data /var/lib/fulgurite -F /etc/ldap/slapd.d"
)]
pub(crate) struct Import {
    /// Directory of OpenLDAP's database, with its data.mdb
    #[arg(long, value_name = "DIR")]
    pub(crate) from: PathBuf,
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfStore>,
    /// Take schema and indexes from a configuration file of slapd
    #[arg(
        short = 'f',
        long = "slapd-conf",
        value_name = "FILE",
        conflicts_with = "slapd_dir"
    )]
    pub(crate) slapd_conf: Option<PathBuf>,
    /// Take schema and indexes from a configuration directory of slapd
    #[arg(short = 'F', long = "slapd-dir", value_name = "DIR")]
    pub(crate) slapd_dir: Option<PathBuf>,
    /// Load unknown attributes as octet strings, and entries that violate the schema unchanged
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Take the values of memberOf too, which do not change with the groups
    #[arg(long)]
    pub(crate) keep_memberof: bool,
    /// Skip and report entries that cannot be read or loaded
    #[arg(long, short = 'c')]
    pub(crate) r#continue: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Import {
    /// Returns the settings of the flags, over those of slapd's configuration at `slapd`, over
    /// those of --config. Of several databases, that of `suffix` counts.
    pub(crate) fn settings(
        &self,
        slapd: Option<&Path>,
        suffix: &str,
    ) -> Result<Settings, ConfigError> {
        let layer = slapd.map(slapd_places::old_layer_at).transpose()?;
        let layer = layer.unwrap_or_default();
        let file = self.flags.config.as_deref().map(Layer::from_file);
        let mut lower = layer.over(file.transpose()?.unwrap_or_default());
        if lower.store_suffixes().count() > 1 {
            lower = lower.with_only_store("--from", suffix)?;
        }
        Settings::new(self.flags.layer()?.over(lower))
    }
}

/// Check, show or change the configuration
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    Apply(ApplyConfig),
    Check(CheckConfig),
    Convert(ConvertConfig),
    Show(ShowConfig),
    Undo(UndoConfig),
}

/// Change a configuration directory by records of LDIF, while no server uses it
///
/// The checks are those of a running server. Each record is applied as a whole, and the earlier
/// files stay as a generation. A running server takes the same records from ldapmodify, and this
/// command then names the call.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite config apply --dry-run -F /etc/ldap/slapd.d changes.ldif"
)]
pub(crate) struct ApplyConfig {
    /// The configuration directory; else that of slapd's package
    #[arg(short = 'F', long = "slapd-dir", value_name = "DIR")]
    pub(crate) slapd_dir: Option<PathBuf>,
    /// Change nothing; print the consequences that the changes would have in a running server
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// LDIF files; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Print a configuration of slapd as a TOML file with comments
///
/// The file has the same settings, and contains the passwords.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite config convert -F /etc/ldap/slapd.d > /etc/fulgurite.toml"
)]
pub(crate) struct ConvertConfig {
    /// A configuration directory of slapd; else that of its package
    #[arg(short = 'F', long = "slapd-dir", value_name = "DIR")]
    pub(crate) slapd_dir: Option<PathBuf>,
    /// A configuration file of slapd
    #[arg(
        short = 'f',
        long = "slapd-conf",
        value_name = "FILE",
        conflicts_with = "slapd_dir"
    )]
    pub(crate) slapd_conf: Option<PathBuf>,
}

/// Take back the last change of a configuration directory, while no server uses it
///
/// The last 50 states are kept, also those before changes by LDAP. A repeated call goes back
/// further.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite config undo -F /etc/ldap/slapd.d")]
pub(crate) struct UndoConfig {
    /// The configuration directory; else that of slapd's package
    #[arg(short = 'F', long = "slapd-dir", value_name = "DIR")]
    pub(crate) slapd_dir: Option<PathBuf>,
    /// List the states that are kept, the newest first, and the entries that differ from the next
    #[arg(long)]
    pub(crate) list: bool,
}

/// Check a configuration, and report the line and a hint for each error
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite config check /etc/fulgurite.toml")]
pub(crate) struct CheckConfig {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// The configuration: TOML, slapd.conf or a configuration directory, detected by name and
    /// content
    #[arg(value_name = "FILE", conflicts_with_all = ["config", "slapd_conf", "slapd_dir"])]
    pub(crate) file: Option<PathBuf>,
    /// Check only the configuration, not the stores
    #[arg(long, short = 'u')]
    pub(crate) no_stores: bool,
}

/// Print the settings in force
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite config show --resolved -f /etc/ldap/slapd.conf")]
pub(crate) struct ShowConfig {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// The configuration: TOML, slapd.conf or a configuration directory, detected by name and
    /// content
    #[arg(value_name = "FILE", conflicts_with_all = ["config", "slapd_conf", "slapd_dir"])]
    pub(crate) file: Option<PathBuf>,
    /// Print every setting, defaults included, with its origin
    #[arg(long)]
    pub(crate) resolved: bool,
}
