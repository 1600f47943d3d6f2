//! Names of people before they are names of entries: SASL names, `authz-regexp`, authorization
//! identities.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};

/// One `authz-regexp <match> <replace>`.
#[derive(Clone, Debug)]
pub struct AuthzRegexp {
    pattern: Regex,
    replacement: String,
}

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("authz-regexp {pattern:?}: {reason}")]
pub struct AuthzRegexpError {
    /// As configured.
    pub pattern: String,
    /// The reason, as a sentence.
    pub reason: String,
}

impl AuthzRegexp {
    /// Compiles a rule. The pattern matches anywhere in the name and in any case. In the
    /// replacement, `$1` to `$9` are the matches of its groups, and `$0` is the whole match.
    ///
    /// # Errors
    /// [`AuthzRegexpError`] for a pattern that is no regular expression and a replacement that
    /// names groups it lacks.
    pub fn new(pattern: &str, replacement: &str) -> Result<AuthzRegexp, AuthzRegexpError> {
        let error = |reason: String| AuthzRegexpError {
            pattern: pattern.to_owned(),
            reason,
        };
        let compiled = RegexBuilder::new(pattern)
            .case_insensitive(true)
            .size_limit(1 << 20)
            .build()
            .map_err(|fault| error(last_line(&fault.to_string())))?;
        let groups = compiled.captures_len();
        let missing = pieces(replacement).find_map(|piece| match piece {
            Piece::Group(number) if number >= groups => Some(number),
            _ => None,
        });
        match missing {
            Some(number) => Err(error(format!(
                "the replacement asks for ${number}, and the pattern has no such group"
            ))),
            None => Ok(AuthzRegexp {
                pattern: compiled,
                replacement: replacement.to_owned(),
            }),
        }
    }

    /// Returns the replacement for a name that fits.
    #[must_use]
    pub fn apply(&self, name: &str) -> Option<String> {
        let captures = self.pattern.captures(name)?;
        let mut mapped = String::new();
        for piece in pieces(&self.replacement) {
            mapped.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Group(number) => captures.get(number).map_or("", |group| group.as_str()),
            });
        }
        Some(mapped)
    }
}

enum Piece<'t> {
    Text(&'t str),
    Group(usize),
}

fn pieces(replacement: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = replacement;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let after = rest.strip_prefix('$');
        if let Some(digit) = after.and_then(|after| after.chars().next()?.to_digit(10)) {
            rest = rest.get(2..).unwrap_or_default();
            return Some(Piece::Group(digit as usize));
        }
        if let Some(after) = after.and_then(|after| after.strip_prefix('$')) {
            rest = after;
            return Some(Piece::Text("$"));
        }
        let skipped = usize::from(after.is_some());
        let end = rest
            .get(skipped..)
            .and_then(|tail| tail.find('$'))
            .map_or(rest.len(), |at| at + skipped);
        let (text, tail) = rest.split_at(end);
        rest = tail;
        Some(Piece::Text(text))
    })
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or(text).trim().to_owned()
}

/// An authorization identity (RFC 4513, section 5.2.1.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthzId {
    /// Nobody.
    Anonymous,
    /// `dn:` and a name.
    Dn(String),
    /// `u:` and what a user is called; `u.mech/realm:` where it depends.
    User {
        /// The user's name.
        name: String,
        /// The mechanism the name is one of.
        mechanism: Option<String>,
        /// The realm the name is one of.
        realm: Option<String>,
    },
}

impl AuthzId {
    /// Reads an identity; `None` for what has none of the forms.
    #[must_use]
    pub fn parse(text: &str) -> Option<AuthzId> {
        if text.is_empty() {
            return Some(AuthzId::Anonymous);
        }
        let prefix = |wanted: &str| {
            text.get(..wanted.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(wanted))
        };
        if prefix("dn:") {
            let name = text.get(3..).unwrap_or_default();
            return Some(if name.is_empty() {
                AuthzId::Anonymous
            } else {
                AuthzId::Dn(name.to_owned())
            });
        }
        if !prefix("u") {
            return None;
        }
        let (kind, name) = text.split_once(':')?;
        let (mechanism, realm) = match kind.get(1..)?.strip_prefix('.') {
            None if kind.len() == 1 => (None, None),
            None => return None,
            Some(rest) => match rest.split_once('/') {
                None => (Some(rest), None),
                Some((mechanism, realm)) => (Some(mechanism), Some(realm)),
            },
        };
        Some(AuthzId::User {
            name: name.to_owned(),
            mechanism: mechanism.map(str::to_owned),
            realm: realm.map(str::to_owned),
        })
    }
}

/// Returns the DN of a name that SASL knows: `uid=<user>[,cn=<realm>][,cn=<mechanism>],cn=auth`.
#[must_use]
pub fn sasl_dn(user: &str, realm: Option<&str>, mechanism: Option<&str>) -> String {
    let mut dn = String::from("uid=");
    escape(user, &mut dn);
    for part in [realm, mechanism]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
    {
        dn.push_str(",cn=");
        escape(&part.to_lowercase(), &mut dn);
    }
    dn.push_str(",cn=auth");
    dn
}

/// Escapes a value for a DN (RFC 4514, section 2.4).
fn escape(value: &str, out: &mut String) {
    let last = value.chars().count().saturating_sub(1);
    for (index, character) in value.chars().enumerate() {
        let edge = index == 0 || index == last;
        match character {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '=' | '#' => {
                let _ = write!(out, "\\{:02X}", character as u32);
            }
            ' ' if edge => out.push_str("\\20"),
            character if character.is_ascii_control() => {
                let _ = write!(out, "\\{:02X}", character as u32);
            }
            character => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_put_in() {
        let rule = AuthzRegexp::new(
            "^UID=([^,]*),cn=([^,]*),cn=auth$",
            "ldap:///dc=x??sub?(&(uid=$1)(o=$2)($$=$))",
        )
        .unwrap();
        assert_eq!(
            rule.apply("uid=Ada,cn=plain,cn=auth").as_deref(),
            Some("ldap:///dc=x??sub?(&(uid=Ada)(o=plain)($=$))")
        );
        assert_eq!(rule.apply("uid=Ada,cn=auth"), None);
        let anywhere = AuthzRegexp::new("ada", "cn=$0").unwrap();
        assert_eq!(anywhere.apply("uid=xAdax").as_deref(), Some("cn=Ada"));
    }

    #[test]
    fn wrong_rules_say_why() {
        assert!(
            AuthzRegexp::new("(", "x")
                .unwrap_err()
                .to_string()
                .contains("unclosed")
        );
        assert!(
            AuthzRegexp::new("(a)", "$2")
                .unwrap_err()
                .to_string()
                .contains("$2")
        );
    }

    #[test]
    fn identities() {
        let user = |name: &str, mechanism: Option<&str>, realm: Option<&str>| AuthzId::User {
            name: name.to_owned(),
            mechanism: mechanism.map(str::to_owned),
            realm: realm.map(str::to_owned),
        };
        for (text, id) in [
            ("", Some(AuthzId::Anonymous)),
            ("dn:", Some(AuthzId::Anonymous)),
            ("DN:cn=x", Some(AuthzId::Dn("cn=x".to_owned()))),
            ("u:ada", Some(user("ada", None, None))),
            ("U:a:b", Some(user("a:b", None, None))),
            ("u.plain:ada", Some(user("ada", Some("plain"), None))),
            ("u.plain/r:ada", Some(user("ada", Some("plain"), Some("r")))),
            ("ada", None),
            ("ux:ada", None),
            ("cn=x", None),
            ("é", None),
        ] {
            assert_eq!(AuthzId::parse(text), id, "{text}");
        }
    }

    #[test]
    fn names_of_sasl_cannot_leave_their_place() {
        assert_eq!(
            sasl_dn("ada", None, Some("PLAIN")),
            "uid=ada,cn=plain,cn=auth"
        );
        assert_eq!(
            sasl_dn("ada", Some("x.org"), Some("plain")),
            "uid=ada,cn=x.org,cn=plain,cn=auth"
        );
        assert_eq!(sasl_dn("ada", None, None), "uid=ada,cn=auth");
        assert_eq!(
            sasl_dn(" a,cn=b+\0", None, None),
            "uid=\\20a\\2Ccn\\3Db\\2B\\00,cn=auth"
        );
    }
}
