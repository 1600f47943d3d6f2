//! The connection of a command to a running server.

use std::path::Path;

use anyhow::{Context as _, bail};
use fulgurite_client::Client;
use fulgurite_ldap::{LdapUrl, Scheme};

/// Connects to a server, and binds if a name is given. A password is read before that.
pub(super) fn connect(
    url: &str,
    subject: Option<&str>,
    password_file: Option<&Path>,
) -> anyhow::Result<Client> {
    let parsed = LdapUrl::parse(url).with_context(|| format!("URL {url}"))?;
    if parsed.scheme != Scheme::Ldap {
        bail!("{url}: only ldap:// URLs can be used, because the connection is without TLS");
    }
    let identity = match (subject, password_file) {
        (Some(name), Some(file)) => {
            let password = std::fs::read_to_string(file);
            let password = password.with_context(|| format!("cannot read {}", file.display()))?;
            Some((name, password))
        }
        (Some(_), None) => bail!("--as needs a password: name its file by --password-file"),
        (None, _) => None,
    };
    let host = parsed.host.unwrap_or_else(|| "localhost".to_owned());
    let port = parsed.port.unwrap_or(389);
    let client = Client::connect((host.as_str(), port));
    let mut client = client.with_context(|| format!("cannot reach {url}"))?;
    if let Some((name, password)) = identity {
        let password = password.trim_end_matches('\n');
        if password.is_empty() {
            bail!("{url}: the password of {name} is empty, which is no bind");
        }
        let bound = client.bind(name, password.as_bytes())?;
        if !bound.is_success() {
            bail!("{url}: the bind is refused: {}", bound.code.name());
        }
    }
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_in_clear_that_is_to_be_safe_and_no_name_without_a_password() {
        for (url, subject, part) in [
            ("ldaps://127.0.0.1:1", None, "only ldap:// URLs"),
            ("ldapi://%2Ftmp%2Fsocket", None, "only ldap:// URLs"),
            ("ldap://127.0.0.1:1", Some("cn=x"), "--as needs a password"),
        ] {
            let Err(error) = connect(url, subject, None) else {
                panic!("{url} is refused");
            };
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
