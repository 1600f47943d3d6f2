//! The server of a command without `--url`.

use std::path::Path;

use fulgurite_config::{LDAPI_PATH, Layer, ListenScheme, ListenUrl, Settings};
use fulgurite_ldap::{LdapUrl, Scheme};

/// The configuration of an installed server.
const CONFIGURATION: &str = "/etc/fulgurite/fulgurite.toml";

/// The socket of an installed server.
const SOCKET: &str = "/run/fulgurite/ldapi";

/// Returns the servers to try, the best first: sockets of this machine, then its port.
pub(super) fn candidates() -> Vec<LdapUrl> {
    let mut listen = configured(Path::new(CONFIGURATION));
    // At a socket the server knows the user of the system.
    listen.sort_by_key(|url| url.scheme != ListenScheme::Ldapi);
    let mut urls: Vec<LdapUrl> = listen.iter().filter_map(dialled).collect();
    urls.extend([SOCKET, LDAPI_PATH].map(|path| socket(Path::new(path))));
    urls.retain(|url| url.scheme != Scheme::Ldapi || is_there(url));
    urls.push(LdapUrl::new(Scheme::Ldap));
    urls
}

/// Reads the addresses of a configuration; none if it cannot be used.
fn configured(file: &Path) -> Vec<ListenUrl> {
    let settings = Layer::from_file(file).and_then(Settings::new);
    let listen = settings.map(|settings| settings.global.listen);
    let listen = listen.unwrap_or_default();
    listen.into_iter().map(|url| url.value).collect()
}

/// Returns the address of a listener as a client dials it.
fn dialled(listen: &ListenUrl) -> Option<LdapUrl> {
    let scheme = match listen.scheme {
        ListenScheme::Ldapi => return Some(socket(&listen.path)),
        // The certificate is probably of another name than localhost.
        ListenScheme::Ldaps => return None,
        // Load balancers only may speak to it.
        ListenScheme::Ldap if listen.proxied => return None,
        ListenScheme::Ldap => Scheme::Ldap,
    };
    let host = match listen.host.as_str() {
        "" | "0.0.0.0" | "::" => "localhost",
        host => host,
    };
    Some(LdapUrl {
        host: Some(host.to_owned()),
        port: Some(listen.port),
        ..LdapUrl::new(scheme)
    })
}

fn socket(path: &Path) -> LdapUrl {
    LdapUrl {
        host: Some(path.display().to_string()),
        ..LdapUrl::new(Scheme::Ldapi)
    }
}

fn is_there(url: &LdapUrl) -> bool {
    url.host
        .as_deref()
        .is_some_and(|path| Path::new(path).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_are_dialled() {
        let dialled = |text: &str| {
            let listen: ListenUrl = text.parse().unwrap();
            dialled(&listen).map(|url| url.to_string())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(dialled("ldap://:3890"), some("ldap://localhost:3890"));
        assert_eq!(dialled("ldap://10.0.0.1"), some("ldap://10.0.0.1:389"));
        assert_eq!(dialled("ldapi://%2Ftmp%2Fx"), some("ldapi://%2Ftmp%2Fx"));
        assert_eq!(dialled("ldaps://:636"), None);
    }

    #[test]
    fn the_port_of_this_machine_is_the_last_resort() {
        let last = candidates().pop().map(|url| url.to_string());
        assert_eq!(last.as_deref(), Some("ldap://"));
    }
}
