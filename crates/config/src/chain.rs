//! The overlay `chain`: servers that updates of a copy are passed on to, and our identity there.

use fulgurite_policy::{
    BindMethod, OverlayLine, OverlaySettings, ProviderLink, Sourced, StartTls, overlay_truth,
};

use crate::ConfigError;
use crate::provider_link::parse;

/// The settings of an overlay `chain`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Answer with the error of the other server, not with the referral.
    pub return_error: bool,
    /// The settings for servers that none of the others is about.
    common: Option<ProviderLink>,
    servers: Vec<ProviderLink>,
}

impl Chain {
    /// Reads the directives of an overlay.
    ///
    /// # Errors
    /// [`ConfigError::Directive`] for a value that is wrong, or that would have an effect that the
    /// server lacks.
    pub fn read(overlay: &OverlaySettings) -> Result<Chain, ConfigError> {
        let mut chain = Chain::default();
        for Sourced { value, origin } in &overlay.lines {
            let read = chain.line(value);
            read.map_err(|text| ConfigError::at(origin, text))?;
        }
        Ok(chain)
    }

    /// Returns the connection to the server of a URL; `None` if no directive gives an identity.
    #[must_use]
    pub fn link(&self, url: &str) -> Option<ProviderLink> {
        let mut servers = self.servers.iter();
        let own = servers.find(|server| is_same_server(&server.url, url));
        let mut link = own.or(self.common.as_ref())?.clone();
        url.clone_into(&mut link.url);
        has_identity(&link).then_some(link)
    }

    fn line(&mut self, line: &OverlayLine) -> Result<(), String> {
        let first = line.first();
        match line.directive.keyword {
            "chain-return-error" => self.return_error = truth(line)?,
            "chain-max-depth" => {
                let depth = first.parse::<u32>();
                depth.map_err(|_| format!("<chain-max-depth> invalid depth \"{first}\""))?;
            }
            "chain-cache-uri" => {
                truth(line)?;
            }
            "chain-uri" => self.servers.push(ProviderLink::new(server_url(first)?)),
            "chain-rebind-as-user" => refuse_rebind(truth(line)?)?,
            "chain-idassert-authzfrom" => require_all_users(first)?,
            "chain-tls" => tls(self.last(), &line.arguments)?,
            "chain-idassert-bind" => identity(self.last(), &line.arguments)?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the server that directives are about: the last one, or all others.
    fn last(&mut self) -> &mut ProviderLink {
        match self.servers.last_mut() {
            Some(server) => server,
            None => self.common.get_or_insert_with(|| ProviderLink::new("")),
        }
    }
}

fn truth(line: &OverlayLine) -> Result<bool, String> {
    let first = line.first();
    let keyword = line.directive.keyword;
    overlay_truth(first).ok_or_else(|| format!("<{keyword}> invalid value \"{first}\""))
}

/// Fails if updates would be sent with the identities of users.
fn refuse_rebind(is_wanted: bool) -> Result<(), String> {
    let text = "chain-rebind-as-user: updates are sent with the identity of chain-idassert-bind; \
                passwords of users are not kept";
    match is_wanted {
        true => Err(text.to_owned()),
        false => Ok(()),
    }
}

/// Fails for a choice of the users whose updates are passed on.
fn require_all_users(text: &str) -> Result<(), String> {
    match text {
        "*" | "{0}*" => Ok(()),
        other => Err(format!(
            "chain-idassert-authzFrom: there is no choice of users, write \"*\" instead of \"{other}\""
        )),
    }
}

/// Reads the URL of a server, which names nothing behind the host.
fn server_url(text: &str) -> Result<&str, String> {
    let after = text.split_once("://").map(|(scheme, rest)| {
        let known = ["ldap", "ldaps", "ldapi"];
        let is_known = known.iter().any(|known| known.eq_ignore_ascii_case(scheme));
        is_known.then_some(rest)
    });
    match after.flatten() {
        Some(rest) if !rest.contains(char::is_whitespace) => Ok(text),
        _ => Err(format!("<chain-uri> unable to parse uri \"{text}\"")),
    }
}

/// Reads the use of TLS.
fn tls(link: &mut ProviderLink, words: &[String]) -> Result<(), String> {
    let (first, rest) = words.split_first().ok_or("<chain-tls> missing argument")?;
    link.start_tls = match first.to_ascii_lowercase().as_str() {
        "none" => StartTls::No,
        "start" => StartTls::Critical,
        "try-start" => StartTls::Yes,
        other => {
            return Err(format!(
                "<chain-tls>: \"{other}\" is none of none, start and try-start"
            ));
        }
    };
    for word in rest {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let key = key.to_ascii_lowercase();
        // slapd writes "starttls=no" here, whatever the first word says.
        if key != "starttls" && !parse::word(link, &key, word, value)? {
            return Err(format!("<chain-tls> unable to parse \"{word}\""));
        }
    }
    Ok(())
}

/// Reads our identity and the form of the assertion.
fn identity(link: &mut ProviderLink, words: &[String]) -> Result<(), String> {
    let start_tls = link.start_tls;
    let mut mode = "legacy";
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let key = key.to_ascii_lowercase();
        match key.as_str() {
            "mode" => mode = value,
            "flags" => flags(value)?,
            _ if parse::word(link, &key, word, value)? => {}
            _ => return Err(format!("<chain-idassert-bind> unable to parse \"{word}\"")),
        }
    }
    // The word "starttls" belongs to binds of the other server's own; `chain-tls` decides.
    if link.start_tls == StartTls::No {
        link.start_tls = start_tls;
    }
    if !mode.eq_ignore_ascii_case("self") {
        return Err(format!(
            "<chain-idassert-bind>: mode={mode} is not known here, write mode=self: the other server \
             then applies the rights of the user"
        ));
    }
    Ok(())
}

/// Checks the flags, which have no effect with `mode=self` and no choice of users.
fn flags(text: &str) -> Result<(), String> {
    const KNOWN: [&str; 4] = [
        "prescriptive",
        "non-prescriptive",
        "proxy-authz-critical",
        "proxy-authz-non-critical",
    ];
    for flag in text.split(',').filter(|flag| !flag.is_empty()) {
        if !KNOWN.iter().any(|known| known.eq_ignore_ascii_case(flag)) {
            return Err(format!(
                "<chain-idassert-bind>: the flag {flag} is not known here"
            ));
        }
    }
    Ok(())
}

fn has_identity(link: &ProviderLink) -> bool {
    match link.bind.method {
        BindMethod::Simple => link.bind.dn.is_some(),
        BindMethod::Sasl => true,
    }
}

/// Returns true if two URLs are of one scheme, host and port.
fn is_same_server(one: &str, other: &str) -> bool {
    let server = |url: &str| {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let scheme = scheme.to_ascii_lowercase();
        let host = rest.split(['/', '?']).next().unwrap_or(rest);
        let host = host.to_ascii_lowercase();
        let port = match scheme.as_str() {
            "ldap" => ":389",
            "ldaps" => ":636",
            _ => "",
        };
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if has_port { "" } else { port };
        (scheme, format!("{host}{port}"))
    };
    server(one) == server(other)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Layer;

    const START: &str = "overlay chain\n";

    fn read(lines: &str) -> Result<Chain, String> {
        let text = format!("{START}{lines}database mdb\nsuffix dc=x\n");
        let layer = Layer::from_slapd_conf_text(&text, Path::new("slapd.conf"));
        let layer = layer.map_err(|error| error.to_string())?;
        assert_eq!(layer.frontend_overlays.len(), 1);
        Chain::read(&layer.frontend_overlays[0]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_has_its_own_identity_and_others_the_common_one() {
        let chain = read(
            "chain-idassert-bind bindmethod=simple binddn=cn=p,dc=x credentials=\"a b\" mode=self\n\
             chain-uri ldap://one\n\
             chain-idassert-bind bindmethod=simple binddn=cn=q,dc=x credentials=c mode=self flags=non-prescriptive\n\
             chain-tls start tls_reqcert=never\n\
             chain-return-error TRUE\n",
        );
        let chain = chain.expect("a chain");
        assert!(chain.return_error);
        let one = chain.link("LDAP://ONE:389/").expect("a server");
        assert_eq!(one.bind.dn.as_deref(), Some("cn=q,dc=x"));
        assert_eq!(one.start_tls, StartTls::Critical);
        let other = chain.link("ldap://one:390").expect("the common one");
        assert_eq!(other.bind.dn.as_deref(), Some("cn=p,dc=x"));
        assert_eq!(other.start_tls, StartTls::No);
        assert_eq!(other.url, "ldap://one:390");
    }

    #[test]
    fn without_an_identity_a_server_is_not_asked() {
        let chain = read("chain-uri ldap://one\n").expect("a chain");
        assert_eq!(chain.link("ldap://one"), None);
        assert_eq!(chain.link("ldap://two"), None);
    }

    #[test]
    fn words_without_a_meaning_here_are_refused() {
        for (lines, reason) in [
            (
                "chain-idassert-bind bindmethod=simple binddn=cn=p\n",
                "mode=legacy",
            ),
            ("chain-idassert-bind mode=none\n", "mode=none"),
            ("chain-idassert-bind mode=self flags=override\n", "override"),
            ("chain-idassert-bind mode=self nonsense=1\n", "nonsense=1"),
            ("chain-rebind-as-user TRUE\n", "passwords of users"),
            ("chain-idassert-authzFrom dn:cn=a,dc=x\n", "choice of users"),
            ("chain-tls propagate\n", "propagate"),
            ("chain-max-depth many\n", "many"),
            ("chain-uri http://h\n", "http://h"),
            ("chain-return-error perhaps\n", "perhaps"),
        ] {
            let error = read(lines).expect_err(lines);
            assert!(error.contains(reason), "{lines}: {error}");
        }
    }
}
