//! Checks of a request before any page sees it.

use std::net::IpAddr;

use crate::request::PageRequest;

/// Returns the host of `HOST` or `HOST:PORT`, without brackets.
fn host_of(authority: &str) -> Option<&str> {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split_once(']').map(|(host, _)| host);
    }
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    (!host.is_empty()).then_some(host)
}

/// Returns true if a request names a host that this console has. A page of a stranger whose name
/// leads here (DNS rebinding) names another.
pub(crate) fn is_own_host(authority: &str, hosts: &[String]) -> bool {
    let Some(host) = host_of(authority) else {
        return false;
    };
    host.parse::<IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
}

/// Returns true if a form comes from a page of the console itself, as far as the browser says.
pub(crate) fn is_from_here(request: &PageRequest, scheme: &str) -> bool {
    let site = request.fetch_site.as_deref().unwrap_or("same-origin");
    let origin = request.origin.as_deref();
    let is_own =
        |origin: &str| origin.eq_ignore_ascii_case(&format!("{scheme}://{}", request.host));
    // A page with no-referrer sends "null" as its origin in some browsers; the site decides then.
    let is_origin = match origin {
        None => true,
        Some("null") => request.fetch_site.is_some(),
        Some(origin) => is_own(origin),
    };
    matches!(site, "same-origin" | "none") && is_origin
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn only_known_hosts_are_answered() {
        let hosts = ["ldap.example.org".to_owned()];
        for own in [
            "127.0.0.1:80",
            "[::1]:80",
            "[::1]",
            "LocalHost:1",
            "ldap.example.ORG",
        ] {
            assert!(is_own_host(own, &hosts), "{own}");
        }
        for other in [
            "",
            ":80",
            "evil.example",
            "ldap.example.org.evil:80",
            "[evil]:80",
            "1.2.3.4.evil",
        ] {
            assert!(!is_own_host(other, &hosts), "{other}");
        }
    }

    #[test]
    fn forms_of_other_sites_are_refused() {
        let request = |origin: Option<&str>, site: Option<&str>| PageRequest {
            is_post: true,
            path: "/".to_owned(),
            query: Vec::new(),
            form: Vec::new(),
            host: "localhost:9".to_owned(),
            origin: origin.map(str::to_owned),
            fetch_site: site.map(str::to_owned),
            cookies: String::new(),
            peer: Ipv4Addr::LOCALHOST.into(),
        };
        let own = Some("http://localhost:9");
        for (origin, site, expected) in [
            (own, Some("same-origin"), true),
            (own, None, true),
            (None, None, true),
            (Some("null"), Some("same-origin"), true),
            (Some("null"), None, false),
            (Some("http://evil"), None, false),
            (Some("https://localhost:9"), None, false),
            (own, Some("cross-site"), false),
            (None, Some("same-site"), false),
        ] {
            assert_eq!(
                is_from_here(&request(origin, site), "http"),
                expected,
                "{origin:?} {site:?}"
            );
        }
    }
}
