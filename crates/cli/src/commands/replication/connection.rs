//! The connection of a command to a running server.

use std::path::Path;

use anyhow::bail;
use fulgurite_client::Client;

use crate::remote::login::{Login, PasswordSource};

/// Connects to a server, and binds if a name is given. A password is read before that.
pub(super) fn connect(
    url: &str,
    subject: Option<&str>,
    password_file: Option<&Path>,
) -> anyhow::Result<Client> {
    let source = match (subject, password_file) {
        (Some(_), None) => bail!("--as needs a password: name its file by --password-file"),
        (_, file) => file.map_or(PasswordSource::Terminal, PasswordSource::File),
    };
    Login::simple(url, subject, source)?.connect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_needs_a_password_and_a_url_a_scheme() {
        for (url, subject, part) in [
            ("http://127.0.0.1:1", None, "http://127.0.0.1:1"),
            ("ldap://127.0.0.1:1", Some("cn=x"), "--as needs a password"),
        ] {
            let Err(error) = connect(url, subject, None) else {
                panic!("{url} is refused");
            };
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
