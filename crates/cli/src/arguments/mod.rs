//! The command line: every sub-command with its flags.

pub(crate) mod apply;
pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod cluster;
pub(crate) mod dbload;
pub(crate) mod env;
pub(crate) mod log;
pub(crate) mod memcached;
pub(crate) mod migrate;
mod overview;
pub(crate) mod people;
pub(crate) mod replication;
pub(crate) mod search;
pub(crate) mod server;
pub(crate) mod setup;
pub(crate) mod status;
pub(crate) mod tools;
pub(crate) mod top;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::flags::{OfChange, OfNewStore, OfServer, SettingFlags};

/// An LDAP directory server on its own memory-mapped store.
///
/// Settings come from flags, the file of --config, and environment variables FULGURITE_*. Flags
/// override the file, and the file overrides the environment.
#[derive(Debug, Parser)]
#[command(
    name = "fulgurite",
    version,
    max_term_width = 100,
    after_help = "First steps:\n  \
fulgurite setup; fulgurite doctor; fulgurite user add ada --generate; fulgurite status\n\n\
The tools of slapd are sub-commands too, with their own options:\n  \
slapd slapadd slapcat slapindex slapmodify slappasswd slaptest slapdn slapauth slapacl slapschema\nA \
link of such a name to this program runs that sub-command."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Reads the command line of this process.
    pub(crate) fn of_process() -> Result<Arguments, clap::Error> {
        let command = Arguments::command();
        let template = overview::template(&command);
        let matches = command.help_template(template).try_get_matches()?;
        let read = Arguments::from_arg_matches(&matches);
        read.map_err(|error| error.format(&mut Arguments::command()))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // Boxed: it has the most flags.
    Setup(Box<setup::Setup>),
    Load(Load),
    Serve(Serve),
    Export(Export),
    Generate(Generate),
    Check(check::Check),
    Doctor(setup::Doctor),
    Env(env::Env),
    Backup(backup::Backup),
    Restore(backup::Restore),
    Index(tools::Index),
    Modify(tools::Modify),
    Passwd(tools::Passwd),
    /// Check a configuration; the same as `config check`
    CheckConfig(tools::CheckConfig),
    Dn(tools::DnForms),
    Auth(tools::Auth),
    Access(tools::Access),
    SchemaCheck(tools::SchemaCheck),
    Explain(tools::ExplainSearch),
    Import(tools::Import),
    Migrate(migrate::Migrate),
    Config(tools::Config),
    Replication(replication::Replication),
    Cluster(cluster::Cluster),
    Status(status::Status),
    Top(top::Top),
    Log(log::Log),
    User(people::User),
    Group(people::Group),
    Ou(people::Ou),
    Search(search::Search),
    Apply(apply::Apply),
    // Boxed: it has many flags.
    Memcached(Box<memcached::Memcached>),
    Dbload(dbload::Dbload),
}

/// Create a new directory from LDIF files
///
/// Entries may come in any order. If a record fails to load, the command reports its file and line
/// and loads nothing. With --add, entries go into a running server instead, in large transactions.
/// Then entries that are there already stay as they are.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite load --data /var/lib/fulgurite --suffix dc=example,dc=com \\\n      --index mail:eq,sub people.ldif groups.ldif\n  fulgurite load --add -D cn=admin,dc=example,dc=com people.ldif"
)]
pub(crate) struct Load {
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfNewStore>,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// LDIF files; `-` is standard input
    #[arg(value_name = "FILE.ldif", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Add the entries to a running server
    #[arg(long)]
    pub(crate) add: bool,
    /// With --add: go on behind an entry that is refused
    #[arg(long = "continue", requires = "add")]
    pub(crate) continue_on_error: bool,
    /// With --add: connections
    #[arg(long, value_name = "NUMBER", requires = "add", default_value = "16", value_parser = connections)]
    pub(crate) parallel: usize,
    #[command(flatten)]
    pub(crate) server: server::ServerFlags,
}

/// Reads a number of connections.
fn connections(text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (1..=64).contains(number));
    number.ok_or_else(|| "from 1 to 64".to_owned())
}

/// Serve a directory over LDAP
///
/// Stops at SIGTERM and SIGINT. Running operations have ten seconds to finish, and clients get a
/// notice. SIGHUP reads the settings and certificates again.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite serve --data /var/lib/fulgurite --suffix dc=example,dc=com \\\n      --listen ldap://127.0.0.1:3890 \\\n      --root-dn cn=admin,dc=example,dc=com --root-password-file /etc/fulgurite/password"
)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfServer>,
}

/// Write a directory as LDIF to standard output
///
/// Works while a server runs. The output is a consistent snapshot with all operational attributes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite export --data /var/lib/fulgurite > all.ldif")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfChange>,
}

/// Write an invented organisation as LDIF to standard output
///
/// The same options always produce the same bytes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite generate --users 10000 --seed 1 > users.ldif")]
pub(crate) struct Generate {
    /// Number of users
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub(crate) users: u64,
    /// Seed of the invented details
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Suffix; its first RDN is a dc, an o or an ou
    #[arg(long, value_name = "DN", default_value = "dc=example,dc=com")]
    pub(crate) suffix: String,
    /// Number of groups of names [default: one per hundred users]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) groups: Option<u64>,
    /// Maximum members of each group
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) group_members: u32,
    /// Write passwords as {SSHA} hashes; the password of user n is pw.n in any case
    #[arg(long)]
    pub(crate) hash: bool,
}

/// Prints clap's report: help unchanged, an error as one sentence.
pub(crate) fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // A closed pipe is no error of this program.
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
        _ => {
            eprintln!("fulgurite: {}", sentence(&error.render().to_string()));
            ExitCode::from(2)
        }
    }
}

/// Returns clap's report without its usage and line breaks.
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
    fn the_command_line_is_well_defined() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_error_is_one_sentence() {
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
}
