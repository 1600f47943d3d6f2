//! Values of the directives for SASL and TLS.

use fulgurite_policy::{CrlCheck, TlsVersion};

use crate::names::AuthzRegexp;
use crate::statement::Statement;
use crate::value_tokens::quoted_token;
use crate::{Note, Sourced};

pub(super) fn authz_regexp(statement: &Statement) -> Result<AuthzRegexp, String> {
    match statement.arguments.as_slice() {
        [pattern, replacement] => Ok(AuthzRegexp {
            pattern: pattern.clone(),
            replacement: replacement.clone(),
        }),
        // A value of cn=config that is no pair of tokens.
        _ => Err("an expression and its replacement are expected".to_owned()),
    }
}

pub(super) fn written_regexp(rule: &AuthzRegexp) -> Vec<String> {
    let parts = [&rule.pattern, &rule.replacement];
    let parts = parts.map(|part| quoted_token(part).unwrap_or_else(|| format!("\"{part}\"")));
    vec![parts.join(" ")]
}

pub(super) fn sasl_secprops(statement: &Statement) -> Result<Vec<String>, String> {
    const PLAIN: [&str; 7] = [
        "none",
        "noplain",
        "noactive",
        "nodict",
        "noanonymous",
        "forwardsec",
        "passcred",
    ];
    const NUMBERS: [&str; 3] = ["minssf", "maxssf", "maxbufsize"];
    let words: Vec<String> = statement.first().split(',').map(str::to_owned).collect();
    let known = |word: &String| match word.split_once('=') {
        Some((name, number)) => {
            NUMBERS.iter().any(|known| known.eq_ignore_ascii_case(name))
                && number.parse::<u32>().is_ok()
        }
        None => PLAIN.iter().any(|known| known.eq_ignore_ascii_case(word)),
    };
    if !words.iter().all(known) {
        return Err(format!(
            "<{}> Invalid security properties",
            statement.keyword
        ));
    }
    let words = words.into_iter();
    Ok(words
        .filter(|word| !word.eq_ignore_ascii_case("none"))
        .collect())
}

pub(super) fn protocol_min(statement: &Statement) -> Result<TlsVersion, String> {
    let word = statement.first();
    TlsVersion::parse(word).or_else(|_| match version_number(word) {
        Some(number) if number <= (3, 3) => Ok(TlsVersion::Tls12),
        Some(_) => Ok(TlsVersion::Tls13),
        None => Err(format!(
            "<{}> unable to parse version \"{word}\"",
            statement.keyword
        )),
    })
}

/// Reads `3.3` or `3`.
fn version_number(word: &str) -> Option<(u32, u32)> {
    let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Reads the certificates that are checked; slapd accepts any word, and an unknown one demands
/// nothing.
pub(super) fn crl_check(statement: &Statement, notes: &mut Vec<Note>) -> Sourced<CrlCheck> {
    let word = statement.first();
    let value = CrlCheck::parse(&word.to_ascii_lowercase());
    if let Err(message) = &value
        && !word.is_empty()
    {
        let text = format!("{}: {message}; none holds", statement.keyword);
        notes.push(Note::warning(&statement.origin, text));
    }
    Sourced::new(value.unwrap_or_default(), statement.origin.clone())
}

pub(super) fn written_crl_check(check: CrlCheck, has_certificate: bool) -> Vec<String> {
    match has_certificate {
        true => vec![check.as_str().to_owned()],
        false => Vec::new(),
    }
}

pub(super) fn written_protocol_min(version: &Sourced<TlsVersion>) -> Vec<String> {
    let number = match **version {
        TlsVersion::Tls12 => "3.3",
        TlsVersion::Tls13 => "3.4",
    };
    match version.is_default() {
        true => Vec::new(),
        false => vec![number.to_owned()],
    }
}
