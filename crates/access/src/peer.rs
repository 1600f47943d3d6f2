//! Tests of where a connection comes from and goes to.

use std::net::{IpAddr, SocketAddr};

use crate::pattern::{Pattern, SubMatches, Template};

/// A test of a text that describes one end of a connection.
#[derive(Clone, Debug)]
pub(crate) enum TextTest {
    /// It is that text, whatever the case.
    Exact(String),
    /// It is that text once sub-matches are put in.
    Expanded(Template),
    Regex(Box<Pattern>),
    RegexExpanded(Template),
    /// A host name that is that one or ends in it after a dot.
    Domain(String),
    DomainExpanded(Template),
    Ip(IpTest),
    /// The path of a UNIX socket.
    Path(String),
}

/// An address with a mask, and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IpTest {
    net: IpAddr,
    mask: IpAddr,
    port: Option<u16>,
}

impl TextTest {
    /// Tests a text. Returns `None` if the test needs sub-matches of the rule's target and has
    /// none.
    pub(crate) fn test(&self, text: &str, found: Option<&SubMatches>) -> Option<bool> {
        Some(match self {
            TextTest::Exact(wanted) => text.eq_ignore_ascii_case(wanted),
            TextTest::Expanded(template) => text.eq_ignore_ascii_case(&template.expand(found?)),
            TextTest::Regex(pattern) => pattern.is_match(text),
            TextTest::RegexExpanded(template) => {
                Pattern::new(&template.expand(found?)).is_ok_and(|pattern| pattern.is_match(text))
            }
            TextTest::Domain(domain) => is_in_domain(text, domain),
            TextTest::DomainExpanded(template) => is_in_domain(text, &template.expand(found?)),
            TextTest::Ip(wanted) => wanted.test(text),
            TextTest::Path(path) => text.strip_prefix("PATH=") == Some(path),
        })
    }
}

fn is_in_domain(host: &str, domain: &str) -> bool {
    let Some(at) = host.len().checked_sub(domain.len()) else {
        return false;
    };
    let (Some(before), Some(end)) = (host.get(..at), host.get(at..)) else {
        return false;
    };
    end.eq_ignore_ascii_case(domain) && (before.is_empty() || before.ends_with('.'))
}

impl IpTest {
    /// Parses `address[%mask][{port}]`, of version 4 or 6.
    pub(crate) fn parse(text: &str, version6: bool) -> Result<IpTest, String> {
        let (text, port) = match text.split_once('{') {
            None => (text, None),
            Some((text, port)) => {
                let port = port.strip_suffix('}').and_then(|port| port.parse().ok());
                (text, Some(port.ok_or("expected {port} after the address")?))
            }
        };
        let (net, mask) = match text.split_once('%') {
            None => (text, None),
            Some((net, mask)) => (net, Some(mask)),
        };
        let address = |text: &str| {
            let parsed: Option<IpAddr> = text.parse().ok();
            parsed
                .filter(|address| address.is_ipv6() == version6)
                .ok_or_else(|| {
                    format!(
                        "{text} is no IP address of version {}",
                        if version6 { 6 } else { 4 }
                    )
                })
        };
        let net = address(net)?;
        let all = if version6 {
            IpAddr::from([0xff; 16])
        } else {
            IpAddr::from([0xff; 4])
        };
        let mask = mask.map_or(Ok(all), address)?;
        Ok(IpTest { net, mask, port })
    }

    fn test(self, end: &str) -> bool {
        let address: Option<SocketAddr> = end.strip_prefix("IP=").and_then(|end| end.parse().ok());
        let Some(address) = address else {
            return false;
        };
        self.port.is_none_or(|port| port == address.port()) && self.covers(address.ip())
    }

    fn covers(self, address: IpAddr) -> bool {
        match (address, self.net, self.mask) {
            (IpAddr::V4(address), IpAddr::V4(net), IpAddr::V4(mask)) => {
                address.to_bits() & mask.to_bits() == net.to_bits()
            }
            (IpAddr::V6(address), IpAddr::V6(net), IpAddr::V6(mask)) => {
                address.to_bits() & mask.to_bits() == net.to_bits()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let test = |pattern: &str, end: &str| {
            let test = IpTest::parse(pattern, pattern.contains(':')).expect(pattern);
            TextTest::Ip(test).test(end, None) == Some(true)
        };
        for (pattern, end, fits) in [
            ("127.0.0.1", "IP=127.0.0.1:4711", true),
            ("127.0.0.1", "IP=127.0.0.2:4711", false),
            (
                "192.168.1.16%255.255.255.240{9009}",
                "IP=192.168.1.31:9009",
                true,
            ),
            (
                "192.168.1.16%255.255.255.240{9009}",
                "IP=192.168.1.32:9009",
                false,
            ),
            (
                "192.168.1.16%255.255.255.240{9009}",
                "IP=192.168.1.31:9010",
                false,
            ),
            ("::1", "IP=[::1]:1", true),
            ("fe80::%ffff::", "IP=[fe80::7]:1", true),
            ("fe80::%ffff::", "IP=[fe81::7]:1", false),
            ("127.0.0.1", "PATH=/run/ldapi", false),
            ("127.0.0.1", "IP=unknown", false),
        ] {
            assert_eq!(test(pattern, end), fits, "{pattern} {end}");
        }
        for bad in [
            "127.0.0",
            "127.0.0.1{x}",
            "127.0.0.1{1",
            "127.0.0.1%x",
            "::1",
        ] {
            assert!(IpTest::parse(bad, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn hosts() {
        for (host, domain, fits) in [
            ("www.Example.com", "example.com", true),
            ("example.com", "example.com", true),
            ("www.anotherexample.com", "example.com", false),
            ("com", "example.com", false),
        ] {
            assert_eq!(is_in_domain(host, domain), fits, "{host}");
        }
    }
}
