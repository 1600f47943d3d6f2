//! The command line: every sub-command with its flags.

pub(crate) mod check;
pub(crate) mod env;
pub(crate) mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use fulgurite_config::{Durability, IndexSetting, ListenUrl, LogLevel, parse_bytes, parse_limit};

/// A number, or none for `unlimited`. Named, because clap reads more into an `Option<Option<_>>`.
type Limit = Option<u32>;

/// An LDAP directory server on its own memory-mapped store.
///
/// Settings come from flags, from the file named by --config, and from environment variables
/// FULGURITE_...; a flag wins over the file, the file over the environment.
#[derive(Debug, Parser)]
#[command(
    name = "fulgurite",
    version,
    max_term_width = 100,
    after_help = "For administrators of slapd: slapd, slapadd, slapcat, slapindex, slapmodify, slappasswd, slaptest,\nslapdn, slapauth, slapacl and slapschema are sub-commands too, with their own options; so called\nby a link of that name, this program is that program."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Load(Load),
    Serve(Serve),
    Export(Export),
    Generate(Generate),
    Check(check::Check),
    Env(env::Env),
    Index(tools::Index),
    Modify(tools::Modify),
    Passwd(tools::Passwd),
    /// Say whether a configuration can be used; the same as `config check`
    CheckConfig(tools::CheckConfig),
    Dn(tools::DnForms),
    Auth(tools::Auth),
    Access(tools::Access),
    SchemaCheck(tools::SchemaCheck),
    Explain(tools::ExplainSearch),
    Import(tools::Import),
    Config(tools::Config),
}

/// Make a new directory out of LDIF files
///
/// Entries may come in any order. A record that cannot be loaded is reported with its file and line,
/// and then nothing of the load remains.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite load --data /var/lib/fulgurite --suffix dc=example,dc=com \\\n      --index mail:eq,sub people.ldif groups.ldif"
)]
pub(crate) struct Load {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) suffix: SuffixFlag,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
    /// Keep an index: an attribute and any of eq, pres, sub, approx
    ///
    /// Replaces the default index of the same attribute; `none` removes it. Repeatable.
    #[arg(long = "index", value_name = "ATTRIBUTE:KINDS", value_parser = IndexSetting::parse)]
    pub(crate) index: Vec<IndexSetting>,
    /// Keep none of the default indexes, only those named with --index
    #[arg(long)]
    pub(crate) no_default_indexes: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// LDIF files; `-` is standard input
    #[arg(value_name = "FILE.ldif", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Serve a directory over LDAP
///
/// Stops at SIGTERM and SIGINT: running operations are finished, for ten seconds at most, and clients
/// are told. SIGHUP reads the settings and certificates again.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite serve --data /var/lib/fulgurite --suffix dc=example,dc=com \\\n      --listen ldap://127.0.0.1:3890 \\\n      --root-dn cn=admin,dc=example,dc=com --root-password-file /etc/fulgurite/password"
)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) suffix: SuffixFlag,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
    /// Address to listen on: ldap://HOST:PORT, ldap://[::1]:PORT, ldap://:PORT for all addresses
    ///
    /// Repeatable. Without it, ldap://127.0.0.1:389.
    #[arg(long, value_name = "URL", value_parser = str::parse::<ListenUrl>)]
    pub(crate) listen: Vec<ListenUrl>,
    /// Name that passes all access rules and limits
    #[arg(long, value_name = "DN")]
    pub(crate) root_dn: Option<String>,
    /// File that holds its password, in clear or as {SCHEME}hash; a line end after it does not count
    #[arg(long, value_name = "FILE")]
    pub(crate) root_password_file: Option<PathBuf>,
    /// Threads that answer clients [default: one per core]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Entries that one search may return; `unlimited` for no limit [default: 500]
    #[arg(long, value_name = "ENTRIES", value_parser = parse_limit)]
    pub(crate) size_limit: Option<Limit>,
    /// Seconds that one search may take; `unlimited` for no limit [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit)]
    pub(crate) time_limit: Option<Limit>,
    /// Seconds without a request after which a connection is closed [default: unlimited]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit)]
    pub(crate) idle_timeout: Option<Limit>,
    /// Connections at once [default: 10000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: Option<u32>,
    /// How sure a commit is before it is acknowledged: full, no-meta-sync or no-sync [default: full]
    #[arg(long, value_name = "HOW", value_parser = Durability::parse)]
    pub(crate) durability: Option<Durability>,
    /// Write one line per operation to standard error; never a password
    #[arg(long)]
    pub(crate) log_operations: bool,
    /// How much to log: error, warn, info, debug or trace [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = LogLevel::parse)]
    pub(crate) log_level: Option<LogLevel>,
}

/// Write a directory as LDIF to standard output
///
/// Works beside a running server: the output is one moment of the directory, with all operational
/// attributes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite export --data /var/lib/fulgurite > all.ldif")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) schema: SchemaFlags,
}

/// Write a made-up organisation as LDIF to standard output
///
/// The same options always give the same bytes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite generate --users 10000 --seed 1 > users.ldif")]
pub(crate) struct Generate {
    /// How many users
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub(crate) users: u64,
    /// What the invented details follow from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The name at the top; its first part is a dc, an o or an ou
    #[arg(long, value_name = "DN", default_value = "dc=example,dc=com")]
    pub(crate) suffix: String,
    /// How many groups of names [default: one per hundred users]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) groups: Option<u64>,
    /// Members of each group, at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) group_members: u32,
    /// Write passwords as {SSHA} hashes; that of user n is pw.n either way
    #[arg(long)]
    pub(crate) hash: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StoreFlags {
    /// Settings from this TOML file; flags win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the store
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Size the data file may grow to, such as 64G; address space is reserved for it [default: 1T]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) map_bytes_max: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct SuffixFlag {
    /// Name of the entry at the top of the data
    #[arg(long, value_name = "DN")]
    pub(crate) suffix: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaFlags {
    /// Schema file in OpenLDAP's syntax, read after the built-in schema. Repeatable
    #[arg(long = "schema", value_name = "FILE")]
    pub(crate) schema: Vec<PathBuf>,
    /// Take the definitions of RFC 2307bis in place of those of RFC 2307
    #[arg(long)]
    pub(crate) rfc2307bis: bool,
}

/// Prints what clap has to say: help as it is, a mistake as one sentence.
pub(crate) fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // A closed pipe is the reader's choice.
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
        _ => {
            eprintln!("fulgurite: {}", sentence(&error.render().to_string()));
            ExitCode::from(2)
        }
    }
}

/// Clap's report, less its usage and its line breaks.
fn sentence(report: &str) -> String {
    let mistake = report.split("\n\n").next().unwrap_or_default();
    let mut sentence = mistake.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(rest) = sentence.strip_prefix("error: ") {
        sentence = rest.to_owned();
    }
    match report
        .lines()
        .find_map(|line| line.trim().strip_prefix("tip: "))
    {
        Some(tip) => format!("{sentence}; {tip}"),
        None => format!("{sentence}; see --help"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn mistake(arguments: &[&str]) -> String {
        let all = ["fulgurite"].iter().chain(arguments);
        sentence(
            &Arguments::try_parse_from(all)
                .unwrap_err()
                .render()
                .to_string(),
        )
    }

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_mistake_is_one_sentence() {
        assert_eq!(
            mistake(&["serve", "--lisen", "ldap://x"]),
            "unexpected argument '--lisen' found; a similar argument exists: '--listen'"
        );
        assert_eq!(
            mistake(&["load", "--data", "d"]),
            "the following required arguments were not provided: <FILE.ldif>...; see --help"
        );
        let wrong = mistake(&["serve", "--listen", "http://x"]);
        assert!(
            wrong.starts_with("invalid value 'http://x' for '--listen <URL>': "),
            "{wrong}"
        );
        assert!(!wrong.contains('\n'));
    }

    #[test]
    fn limits_may_be_unlimited() {
        let arguments = [
            "fulgurite",
            "serve",
            "--size-limit",
            "unlimited",
            "--time-limit",
            "5",
        ];
        let Command::Serve(serve) = Arguments::try_parse_from(arguments).unwrap().command else {
            panic!("not serve");
        };
        assert_eq!(
            (serve.size_limit, serve.time_limit),
            (Some(None), Some(Some(5)))
        );
    }
}
