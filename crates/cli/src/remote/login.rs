//! The way to a server and the identity there, resolved once, for one or more connections.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use fulgurite_client::{Client, ClientError, ConnectOptions, LdapUrl, TlsSettings};
use fulgurite_config::LDAPI_PATH;
use fulgurite_ldap::Scheme;

use super::answer;
use super::server_url::candidates;
use crate::arguments::server::ServerFlags;

/// The identity at the server.
#[derive(Clone)]
enum Identity {
    Anonymous,
    /// A name with its password.
    Simple(String, Vec<u8>),
    /// The user of the system, as the server sees it at its socket.
    External,
}

/// All that a connection needs.
#[derive(Clone)]
pub(crate) struct Login {
    /// The servers to try, in order.
    urls: Vec<LdapUrl>,
    identity: Identity,
    options: ConnectOptions,
}

/// A place of a password.
#[derive(Clone, Copy)]
pub(crate) enum PasswordSource<'f> {
    File(&'f Path),
    Terminal,
}

/// Connects to the server of the flags, and binds.
pub(crate) fn connect(flags: &ServerFlags) -> anyhow::Result<Client> {
    Login::new(flags)?.connect()
}

impl Login {
    /// Reads the flags, and the password.
    pub(crate) fn new(flags: &ServerFlags) -> anyhow::Result<Login> {
        let urls = match &flags.url {
            Some(url) => vec![parsed(url)?],
            None => candidates(),
        };
        let wants_external = flags.mechanism.is_some();
        let is_local = urls.first().is_some_and(|url| url.scheme == Scheme::Ldapi);
        let identity = match &flags.subject {
            Some(name) => {
                let file = flags.password_file.as_deref();
                let source = file.map_or(PasswordSource::Terminal, PasswordSource::File);
                Identity::Simple(name.clone(), password_of(name, source)?)
            }
            None if wants_external || is_local => Identity::External,
            None => Identity::Anonymous,
        };
        // The ldap-utils read the same variable.
        let demand = std::env::var("LDAPTLS_REQCERT").unwrap_or_default();
        let is_lax = matches!(demand.as_str(), "never" | "allow");
        let options = ConnectOptions {
            timeout: Some(Duration::from_secs(flags.timeout)),
            tls: TlsSettings {
                authorities: flags.tls_ca.clone(),
                verifies: !(flags.tls_insecure || is_lax),
            },
            start_tls: flags.start_tls,
        };
        Ok(Login {
            urls,
            identity,
            options,
        })
    }

    /// Returns a login at one server, by a name with a password or anonymously.
    #[cfg(test)]
    fn simple(
        url: &str,
        subject: Option<&str>,
        password: PasswordSource<'_>,
    ) -> anyhow::Result<Login> {
        let url = parsed(url)?;
        let identity = match subject {
            Some(name) => Identity::Simple(name.to_owned(), password_of(name, password)?),
            None if url.scheme == Scheme::Ldapi => Identity::External,
            None => Identity::Anonymous,
        };
        Ok(Login {
            urls: vec![url],
            identity,
            options: ConnectOptions::default(),
        })
    }

    /// Connects and binds.
    pub(crate) fn connect(&self) -> anyhow::Result<Client> {
        self.connect_named().map(|(_, client)| client)
    }

    /// Connects and binds. Returns the URL of the server, too.
    pub(crate) fn connect_named(&self) -> anyhow::Result<(String, Client)> {
        let (url, mut client) = self.open()?;
        self.bind(url, &mut client)?;
        Ok((url.to_string(), client))
    }

    /// Binds at the server of a URL.
    fn bind(&self, url: &LdapUrl, client: &mut Client) -> anyhow::Result<()> {
        let bound = match &self.identity {
            Identity::Anonymous => return Ok(()),
            Identity::Simple(name, password) => {
                warn_of_clear_password(url, &self.options);
                client.bind(name, password)?
            }
            // A server of the list that listens at a port knows no user of the system.
            Identity::External if self.urls.len() > 1 && url.scheme != Scheme::Ldapi => {
                return Ok(());
            }
            Identity::External => client.bind_external()?,
        };
        answer::expect(&bound, || format!("{url}: the bind is refused"))
    }

    /// Connects to the first server that answers.
    fn open(&self) -> anyhow::Result<(&LdapUrl, Client)> {
        let mut refused = None;
        for url in &self.urls {
            match Client::open(url, &self.options) {
                Ok(client) => return Ok((url, client)),
                Err(error @ ClientError::Connect(_)) => {
                    let error = anyhow::Error::from(error);
                    refused = Some(error.context(format!("cannot reach {url}")));
                }
                Err(error) => return Err(error).with_context(|| url.to_string()),
            }
        }
        Err(refused.unwrap_or_else(|| anyhow::anyhow!("there is no server to ask")))
    }
}

fn parsed(text: &str) -> anyhow::Result<LdapUrl> {
    let mut url = LdapUrl::parse(text).with_context(|| format!("URL {text}"))?;
    if url.scheme == Scheme::Ldapi {
        url.host.get_or_insert_with(|| LDAPI_PATH.to_owned());
    }
    Ok(url)
}

fn password_of(name: &str, source: PasswordSource<'_>) -> anyhow::Result<Vec<u8>> {
    let password = match source {
        PasswordSource::File(file) => read_password(file)?,
        PasswordSource::Terminal => {
            let asked = rpassword::prompt_password(format!("Password of {name}: "));
            let asked = asked.context("there is no terminal to ask: use --password-file");
            asked?.into_bytes()
        }
    };
    if password.is_empty() {
        bail!("the password of {name} is empty, which is no bind");
    }
    Ok(password)
}

/// Reads a password from a file, without the end of its line.
pub(crate) fn read_password(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut password =
        std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    if password.ends_with(b"\n") {
        password.pop();
    }
    Ok(password)
}

/// Warns if a password crosses a network in clear.
fn warn_of_clear_password(url: &LdapUrl, options: &ConnectOptions) {
    let host = url.host.as_deref().unwrap_or("localhost");
    let is_near = matches!(host, "localhost" | "::1") || host.starts_with("127.");
    if url.scheme == Scheme::Ldap && !options.start_tls && !is_near {
        eprintln!(
            "fulgurite: the password goes to {host} in clear; --start-tls or ldaps:// hides it"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_password_is_no_bind() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "\n").unwrap();
        let source = PasswordSource::File(file.path());
        let Err(error) = Login::simple("ldap://127.0.0.1:1", Some("cn=x"), source) else {
            panic!("an empty password is refused");
        };
        assert!(error.to_string().contains("is empty"), "{error}");
        std::fs::write(file.path(), "a b \n").unwrap();
        assert_eq!(read_password(file.path()).unwrap(), b"a b ");
    }
}
