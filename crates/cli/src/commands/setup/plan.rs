//! The plan of a setup: answers of flags, of an earlier setup, and of the person at the terminal.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use fulgurite_auth::Scheme;
use fulgurite_config::{Layer, ListenScheme, ListenUrl, Settings};
use fulgurite_schema::{Dn, Schema};

use super::authority::AuthorityFiles;
use super::files::Files;
use super::questions::Questions;
use crate::arguments::setup::{Setup, TlsSource};
use crate::commands::doctor::CONFIG;
use crate::passwords::{self, PromptOutcome};

pub(super) const DATA: &str = "/var/lib/fulgurite";
pub(super) const USER: &str = "fulgurite";
/// The socket for this machine, in the folder that the service owns.
pub(super) const LOCAL_URL: &str = "ldapi://%2Frun%2Ffulgurite%2Fldapi";

/// Classes that the entry at the top can have, by the attribute of its name.
const TOPS: [&str; 5] = ["dc", "o", "ou", "c", "cn"];

/// Everything that a setup needs to know.
pub(super) struct Plan {
    pub(super) suffix: String,
    pub(super) organisation: String,
    pub(super) root_dn: String,
    pub(super) password: RootPassword,
    pub(super) password_file: PathBuf,
    pub(super) tls: TlsPlan,
    pub(super) hosts: Vec<String>,
    pub(super) data: PathBuf,
    pub(super) config: PathBuf,
    pub(super) user: String,
    pub(super) listen: Vec<String>,
    /// A system user and a service are made.
    pub(super) has_service: bool,
}

/// The root's password.
pub(super) enum RootPassword {
    /// The file exists.
    Kept,
    /// A hash, for the file.
    Hash(String),
    /// A generated password, which is shown once, and its hash.
    Generated(String, String),
}

/// The server's certificate.
pub(super) enum TlsPlan {
    None,
    Own(AuthorityFiles),
    Files { certificate: PathBuf, key: PathBuf },
}

/// The answers of an earlier setup, in its file of settings.
#[derive(Default)]
struct Earlier {
    suffix: Option<String>,
    organisation: Option<String>,
    root_dn: Option<String>,
    data: Option<PathBuf>,
    listen: Vec<String>,
    /// Certificate and key; `None` without TLS.
    tls: Option<(PathBuf, PathBuf)>,
    exists: bool,
}

impl Earlier {
    fn read(place: &Path) -> anyhow::Result<Earlier> {
        if !place.exists() {
            return Ok(Earlier::default());
        }
        let settings = Layer::from_file(place).and_then(Settings::new);
        let settings =
            settings.with_context(|| format!("{} exists and cannot be used", place.display()))?;
        let global = &settings.global;
        let files = (&global.tls_certificate.value, &global.tls_key.value);
        let database = settings.first_store()?;
        Ok(Earlier {
            suffix: database.suffix_if_set().map(str::to_owned),
            organisation: global.organization.value.clone(),
            root_dn: database.content.root_dn.value.clone(),
            data: database.directory().ok().map(Path::to_owned),
            listen: global
                .listen
                .iter()
                .map(|url| url.value.text.clone())
                .collect(),
            tls: match files {
                (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
                _ => None,
            },
            exists: true,
        })
    }

    /// Returns the name of the root: the old one, if the suffix is the old one.
    fn root_dn_of(&self, suffix: &str) -> String {
        match &self.root_dn {
            Some(name) if self.suffix.as_deref() == Some(suffix) => name.clone(),
            _ => format!("cn=admin,{suffix}"),
        }
    }
}

impl Plan {
    /// Collects the answers.
    ///
    /// # Errors
    /// An answer cannot be used, or the person at the terminal says no.
    pub(super) fn new<R: BufRead, W: Write>(
        command: &Setup,
        files: &Files,
        questions: &mut Questions<R, W>,
    ) -> anyhow::Result<Plan> {
        let is_root = nix::unistd::geteuid().is_root();
        let has_service = !command.no_service && (is_root || command.root.is_some());
        let config = absolute(command.config.as_deref().unwrap_or(Path::new(CONFIG)))?;
        let earlier = Earlier::read(&files.place(&config))?;
        let suffix = match &command.suffix {
            Some(text) => suffix_of(text).map_err(anyhow::Error::msg)?,
            None => {
                let default = earlier.suffix.clone().unwrap_or_else(default_suffix);
                questions.ask("Suffix, or domain", &default, suffix_of)?
            }
        };
        let organisation = match &command.organisation {
            Some(name) => name.clone(),
            None => {
                let default = earlier.organisation.clone();
                let default = default.unwrap_or_else(|| first_value(&suffix));
                questions.ask("Organisation", &default, |text| Ok(text.to_owned()))?
            }
        };
        let data = match &command.data {
            Some(path) => path.clone(),
            None => {
                let default = earlier.data.as_deref().unwrap_or(Path::new(DATA));
                let default = default.display().to_string();
                questions.ask("Folder of the data", &default, |text| {
                    Ok(PathBuf::from(text))
                })?
            }
        };
        let tls = tls_plan(command, &config, &earlier, questions)?;
        let listen = match (command.listen.is_empty(), earlier.listen.is_empty()) {
            (false, _) => command.listen.clone(),
            (true, false) => earlier.listen.clone(),
            (true, true) => default_addresses(&config, &tls, has_service),
        };
        check_addresses(&listen, &tls)?;
        let password_file = config.with_file_name("root-password");
        Ok(Plan {
            root_dn: earlier.root_dn_of(&suffix),
            password: root_password(command, files, &password_file, questions.asks())?,
            password_file,
            hosts: hosts(command),
            data: absolute(&data)?,
            user: command.user.clone().unwrap_or_else(|| USER.to_owned()),
            suffix,
            organisation,
            tls,
            config,
            listen,
            has_service,
        })
    }

    /// Returns the user of this machine who is the root of the directory.
    pub(super) fn local_uid(&self) -> u32 {
        match self.has_service {
            true => 0,
            false => nix::unistd::getuid().as_raw(),
        }
    }

    /// Returns the plan as lines for a person.
    pub(super) fn summary(&self) -> String {
        let tls = match &self.tls {
            TlsPlan::None => "none".to_owned(),
            TlsPlan::Own(files) => format!("own authority, {}", files.authority.display()),
            TlsPlan::Files { certificate, .. } => certificate.display().to_string(),
        };
        let service = match self.has_service {
            true => format!("user {}, service fulgurite.service", self.user),
            false => "none".to_owned(),
        };
        format!(
            "  suffix        {}\n  organisation  {}\n  root          {}\n  data          {}\n  \
             settings      {}\n  TLS           {tls}\n  addresses     {}\n  service       {service}\n",
            self.suffix,
            self.organisation,
            self.root_dn,
            self.data.display(),
            self.config.display(),
            self.listen.join(" "),
        )
    }
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} is no path", path.display()))
}

fn tls_plan<R: BufRead, W: Write>(
    command: &Setup,
    config: &Path,
    earlier: &Earlier,
    questions: &mut Questions<R, W>,
) -> anyhow::Result<TlsPlan> {
    let own = AuthorityFiles::beside(config);
    let given = match (&command.tls_certificate, &command.tls_key) {
        (Some(certificate), Some(key)) => Some((absolute(certificate)?, absolute(key)?)),
        _ => None,
    };
    let earlier_source = match &earlier.tls {
        Some((certificate, _)) if *certificate == own.certificate => TlsSource::Own,
        Some(_) => TlsSource::Files,
        None if earlier.exists => TlsSource::None,
        None => TlsSource::Own,
    };
    let source = match (command.tls, &given) {
        (Some(source), _) => source,
        (None, Some(_)) => TlsSource::Files,
        (None, None) => ask_tls(earlier_source, questions)?,
    };
    match (source, given.or_else(|| earlier.tls.clone())) {
        (TlsSource::None, _) => Ok(TlsPlan::None),
        (TlsSource::Own, _) => Ok(TlsPlan::Own(own)),
        (TlsSource::Files, Some((certificate, key))) => Ok(TlsPlan::Files { certificate, key }),
        (TlsSource::Files, None) => bail!("--tls files needs --tls-certificate and --tls-key"),
    }
}

fn ask_tls<R: BufRead, W: Write>(
    default: TlsSource,
    questions: &mut Questions<R, W>,
) -> anyhow::Result<TlsSource> {
    let word = match default {
        TlsSource::Own => "self",
        TlsSource::None => "none",
        TlsSource::Files => "files",
    };
    let question = "TLS: self (an own authority), files or none";
    questions.ask(question, word, |answer| {
        clap::ValueEnum::from_str(answer, true).map_err(|_| "self, files or none".to_owned())
    })
}

/// Reads a suffix, or the domain that it is made of.
fn suffix_of(text: &str) -> Result<String, String> {
    let is_domain = |text: &str| {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
        text.contains('.')
            && text.chars().all(allowed)
            && text.split('.').all(|part| !part.is_empty())
    };
    let name = match is_domain(text) {
        true => text
            .split('.')
            .map(|part| format!("dc={part}"))
            .collect::<Vec<_>>()
            .join(","),
        false => text.to_owned(),
    };
    let dn = Dn::parse(&Schema::standard(), &name);
    let dn = dn.map_err(|reason| format!("{text}: {reason}, write dc=example,dc=org"))?;
    let attribute = name
        .split('=')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if dn.is_root() || !TOPS.contains(&attribute.as_str()) {
        return Err(format!("{text}: begin the suffix with dc, o, ou, c or cn"));
    }
    Ok(name)
}

/// Returns the value of the first RDN.
fn first_value(suffix: &str) -> String {
    let rdn = suffix.split(',').next().unwrap_or_default();
    let (_, value) = rdn.split_once('=').unwrap_or_default();
    value.trim().to_owned()
}

/// Returns the suffix of this host's domain, or an example.
fn default_suffix() -> String {
    let host = host_name();
    let domain = host
        .split_once('.')
        .map(|(_, domain)| format!("x.{domain}"));
    let suffix = domain.and_then(|domain| suffix_of(&domain).ok());
    let suffix = suffix
        .as_deref()
        .and_then(|suffix| suffix.strip_prefix("dc=x,"));
    match suffix {
        Some(suffix) if suffix.contains(',') => suffix.to_owned(),
        _ => "dc=example,dc=org".to_owned(),
    }
}

fn host_name() -> String {
    let names = rustix::system::uname();
    names.nodename().to_string_lossy().into_owned()
}

/// Returns the names and addresses of the certificate: those that are given, then this machine's.
fn hosts(command: &Setup) -> Vec<String> {
    let mut hosts = command.host.clone();
    // Some clients ask for the name of the machine if they are to connect to "localhost".
    let own = host_name();
    for local in [own.as_str(), "localhost", "127.0.0.1", "::1"] {
        if !hosts.iter().any(|host| host == local) {
            hosts.push(local.to_owned());
        }
    }
    hosts
}

fn default_addresses(config: &Path, tls: &TlsPlan, has_service: bool) -> Vec<String> {
    let has_tls = !matches!(tls, TlsPlan::None);
    let mut addresses = Vec::new();
    if has_service {
        addresses.push("ldap:///".to_owned());
        addresses.extend(has_tls.then(|| "ldaps:///".to_owned()));
        addresses.push(LOCAL_URL.to_owned());
    } else {
        // Ports that every user may take.
        addresses.push("ldap://127.0.0.1:3890".to_owned());
        addresses.extend(has_tls.then(|| "ldaps://127.0.0.1:6360".to_owned()));
        let socket = config.with_file_name("ldapi").display().to_string();
        addresses.push(format!("ldapi://{}", socket.replace('/', "%2F")));
    }
    addresses
}

fn check_addresses(listen: &[String], tls: &TlsPlan) -> anyhow::Result<()> {
    for text in listen {
        let url: ListenUrl = text.parse().map_err(anyhow::Error::msg)?;
        if url.scheme == ListenScheme::Ldaps && matches!(tls, TlsPlan::None) {
            bail!("{text} needs a certificate: give --tls self, or --tls files");
        }
    }
    Ok(())
}

/// Returns the root's password: that which exists, from the file of the flag, the terminal or the
/// system's randomness.
fn root_password(
    command: &Setup,
    files: &Files,
    place: &Path,
    asks: bool,
) -> anyhow::Result<RootPassword> {
    let names_another = files.force && command.root_password_file.is_some();
    if files.exists(place) && !names_another {
        return Ok(RootPassword::Kept);
    }
    let hash = |password: &[u8]| passwords::hash(Scheme::default(), password, None);
    if let Some(file) = &command.root_password_file {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            bail!("{} is empty", file.display());
        }
        let scheme = text.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        return Ok(RootPassword::Hash(match scheme {
            Some((name, _)) if Scheme::from_name(name).is_some() => text.to_owned(),
            _ => hash(text.as_bytes())?,
        }));
    }
    if asks {
        eprintln!("Password of the root; an empty one lets the program choose.");
        match passwords::prompt() {
            PromptOutcome::Password(password) if password.is_empty() => {}
            PromptOutcome::Password(password) => return Ok(RootPassword::Hash(hash(&password)?)),
            PromptOutcome::Differ => bail!("the two passwords differ"),
            PromptOutcome::Impossible(error) => {
                return Err(error).context("cannot read a password");
            }
        }
    }
    let password = passwords::generate().context("cannot generate a password")?;
    let hash = hash(password.as_bytes())?;
    Ok(RootPassword::Generated(password, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_a_suffix_too() {
        for (text, suffix) in [
            ("dc=example,dc=org", "dc=example,dc=org"),
            ("example.org", "dc=example,dc=org"),
            ("o=Example Ltd,c=NO", "o=Example Ltd,c=NO"),
        ] {
            assert_eq!(suffix_of(text).as_deref(), Ok(suffix));
        }
        for (text, reason) in [
            ("example", "write dc=example,dc=org"),
            ("uid=x,dc=org", "begin the suffix with dc, o, ou, c or cn"),
            ("", "begin the suffix with dc, o, ou, c or cn"),
        ] {
            let refused = suffix_of(text).unwrap_err();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
        assert_eq!(first_value("dc=example,dc=org"), "example");
        assert!(suffix_of(&default_suffix()).is_ok());
    }

    #[test]
    fn addresses_follow_tls_and_the_service() {
        let config = Path::new("/x/fulgurite.toml");
        let none = TlsPlan::None;
        let own = TlsPlan::Own(AuthorityFiles::beside(config));
        assert_eq!(
            default_addresses(config, &own, true),
            ["ldap:///", "ldaps:///", LOCAL_URL]
        );
        assert_eq!(
            default_addresses(config, &none, false),
            ["ldap://127.0.0.1:3890", "ldapi://%2Fx%2Fldapi"]
        );
        let refused = check_addresses(&["ldaps:///".to_owned()], &none).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "ldaps:/// needs a certificate: give --tls self, or --tls files"
        );
    }
}
