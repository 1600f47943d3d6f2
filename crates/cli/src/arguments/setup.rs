//! Flags of `fulgurite setup` and `fulgurite doctor`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::tools::ConfigFlags;

/// Make a directory server: settings, root password, TLS, user, service
///
/// Asks for what no flag gives, if there is a terminal; --yes takes the defaults instead. The
/// command writes a short file of settings, the root's password as a hash, and certificates. As
/// root, it makes a system user and a service too, and starts it where systemd runs.
///
/// The answers of an earlier call are the defaults of the next one, so a repeated call changes
/// nothing. A file that has other content stays as it is, unless --force is given.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite setup\n  fulgurite setup --yes --suffix dc=example,dc=org --organisation 'Example Ltd'\n  fulgurite setup --yes --suffix example.org --tls none --data ./data --config ./fulgurite.toml\n  fulgurite setup --check"
)]
pub(crate) struct Setup {
    /// Name at the top of the data, such as dc=example,dc=org or example.org
    #[arg(long, value_name = "DN")]
    pub(crate) suffix: Option<String>,
    /// Name of the organisation, for the entry at the top
    #[arg(long, value_name = "NAME", alias = "organization")]
    pub(crate) organisation: Option<String>,
    /// File with the root's password, in clear or as a hash [default: a generated one, printed]
    #[arg(long, value_name = "FILE")]
    pub(crate) root_password_file: Option<PathBuf>,
    /// Source of the certificate [default: self]
    #[arg(long, value_enum)]
    pub(crate) tls: Option<TlsSource>,
    /// The server's certificate and those above it, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Name or address of this host, for its certificate. Repeatable [default: the host's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Folder of the store [default: /var/lib/fulgurite]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// File of settings [default: /etc/fulgurite/fulgurite.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// System user of the server [default: fulgurite]
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Address to listen on, as an LDAP URL. Repeatable
    #[arg(long, value_name = "URL", value_parser = check_url)]
    pub(crate) listen: Vec<String>,
    /// Ask nothing; take the defaults
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Replace files that have other content; they stay with the ending .old. Keys stay, and the
    /// root's password unless --root-password-file names another
    #[arg(long)]
    pub(crate) force: bool,
    /// Sign a new certificate of this server with the own authority
    #[arg(long)]
    pub(crate) renew: bool,
    /// Make no system user and no service
    #[arg(long)]
    pub(crate) no_service: bool,
    /// Write below this folder, for a package or an image; start nothing
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Check an installation instead; the same as `fulgurite doctor`
    #[arg(long, conflicts_with_all = ["yes", "force", "renew", "root", "no_service"])]
    pub(crate) check: bool,
    /// With --check: write one JSON object
    #[arg(long, requires = "check")]
    pub(crate) json: bool,
}

/// The source of the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TlsSource {
    /// An own authority signs it
    #[value(name = "self")]
    Own,
    /// No TLS
    None,
    /// The files of --tls-certificate and --tls-key
    Files,
}

fn check_url(text: &str) -> Result<String, String> {
    let url = text.parse::<fulgurite_config::ListenUrl>()?;
    Ok(url.text)
}

/// Check an installation: settings, rights, certificates, addresses, room, clock, store, backups
///
/// Works while the server runs, and changes nothing. Each line begins with `ok`, `note`, `warn` or
/// `fail`; a line below it names the remedy.
///
/// Exit status: 0 all is well, 1 something needs attention, 2 something is wrong.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite doctor\n  fulgurite doctor --config ./fulgurite.toml --backups /mnt/backup\n  fulgurite doctor --answers"
)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// Folder of backups that `fulgurite env backup` writes; its newest file must be young
    #[arg(long, value_name = "DIR")]
    pub(crate) backups: Option<PathBuf>,
    /// Only ask whether the server answers at its addresses, as a container's health check does
    ///
    /// Without a file of settings, those of the environment count.
    #[arg(long)]
    pub(crate) answers: bool,
    /// Only ask whether a server answers at this address
    #[arg(long, value_name = "URL", value_parser = check_url, conflicts_with = "answers")]
    pub(crate) url: Option<String>,
    /// Write one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
