//! The connection of a command to a running server.

use std::path::Path;

use anyhow::{Context as _, bail};
use fulgurite_client::Client;
use fulgurite_ldap::LdapUrl;

/// Connects to a server, and binds if a name is given.
pub(super) fn connect(
    url: &str,
    subject: Option<&str>,
    password_file: Option<&Path>,
) -> anyhow::Result<Client> {
    let parsed = LdapUrl::parse(url).with_context(|| format!("URL {url}"))?;
    let host = parsed.host.unwrap_or_else(|| "localhost".to_owned());
    let port = parsed.port.unwrap_or(389);
    let client = Client::connect((host.as_str(), port));
    let mut client = client.with_context(|| format!("cannot reach {url}"))?;
    if let Some(name) = subject {
        let password = match password_file {
            Some(file) => std::fs::read_to_string(file)
                .with_context(|| format!("cannot read {}", file.display()))?,
            None => String::new(),
        };
        let bound = client.bind(name, password.trim_end_matches('\n').as_bytes())?;
        if !bound.is_success() {
            bail!("{url}: the bind is refused: {}", bound.code.name());
        }
    }
    Ok(client)
}
