//! Directives about TLS and SASL.

use std::path::PathBuf;

use super::{Directive, Kind, Reader, Statement};
use crate::Sourced;
use crate::model::AuthzRegexp;
use fulgurite_policy::{AuthzPolicy, CrlCheck, TlsVersion, VerifyClient};

/// A file or directory that goes into a field of the global settings.
macro_rules! path {
    ($keyword:literal, $olc:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            "<>",
            Kind::Text(|reader, value, origin| {
                let path = Some(PathBuf::from(value));
                reader.layer.global.$field = Some(Sourced::new(path, origin));
            }),
        )
    };
}

/// A word that goes into a field of the global settings.
macro_rules! text {
    ($keyword:literal, $olc:literal, $arguments:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            $arguments,
            Kind::Text(|reader, value, origin| {
                reader.layer.global.$field = Some(Sourced::new(Some(value), origin));
            }),
        )
    };
}

/// One of a few words that goes into a field of the global settings.
macro_rules! word {
    ($keyword:literal, $olc:literal, $arguments:literal, $field:ident, $type:ty) => {
        Directive::one(
            $keyword,
            $olc,
            $arguments,
            Kind::Words(|reader, statement| {
                let word = statement.first();
                let value = <$type>::parse(&word.to_ascii_lowercase()).map_err(|hint| {
                    format!(
                        "<{}> unable to parse value \"{word}\": {hint}",
                        statement.keyword
                    )
                })?;
                reader.layer.global.$field = Some(Sourced::new(value, statement.origin.clone()));
                Ok(())
            }),
        )
    };
}

const REGEXP: Kind = Kind::Words(authz_regexp);
const NO_PROPERTIES: &str =
    "there are no auxiliary property plug-ins; passwords come from the directory";

pub(crate) const DIRECTIVES: &[Directive] = &[
    path!("TLSCACertificateFile", "olcTLSCACertificateFile", tls_ca),
    path!(
        "TLSCACertificatePath",
        "olcTLSCACertificatePath",
        tls_ca_directory
    ),
    path!(
        "TLSCertificateFile",
        "olcTLSCertificateFile",
        tls_certificate
    ),
    path!("TLSCertificateKeyFile", "olcTLSCertificateKeyFile", tls_key),
    text!("TLSCipherSuite", "olcTLSCipherSuite", "<>", tls_ciphers),
    path!("TLSDHParamFile", "olcTLSDHParamFile", tls_dh_parameters),
    text!("TLSECName", "olcTLSECName", "<>", tls_curves),
    path!("TLSCRLFile", "olcTLSCRLFile", tls_crl),
    Directive::one(
        "TLSCRLCheck",
        "olcTLSCRLCheck",
        "<>",
        Kind::Words(crl_check),
    )
    .taking(0, Some(1)),
    Directive::one(
        "TLSProtocolMin",
        "olcTLSProtocolMin",
        "<>",
        Kind::Words(protocol_min),
    ),
    word!(
        "TLSVerifyClient",
        "olcTLSVerifyClient",
        "<>",
        tls_verify_client,
        VerifyClient
    ),
    Directive::one(
        "TLSRandFile",
        "olcTLSRandFile",
        "<>",
        Kind::Needless("random numbers come from the system"),
    ),
    word!(
        "authz-policy",
        "olcAuthzPolicy",
        "<policy>",
        authz_policy,
        AuthzPolicy
    ),
    Directive::many("authz-regexp", "olcAuthzRegexp", "<regexp> <DN>", REGEXP).taking(2, Some(2)),
    Directive::many("sasl-regexp", "", "<>", REGEXP).taking(2, Some(2)),
    Directive::many("saslRegexp", "", "<>", REGEXP).taking(2, Some(2)),
    text!("sasl-host", "olcSaslHost", "<host>", sasl_host),
    text!("sasl-realm", "olcSaslRealm", "<realm>", sasl_realm),
    text!(
        "sasl-cbinding",
        "olcSaslCBinding",
        "<>",
        sasl_channel_binding
    ),
    Directive::one(
        "sasl-secprops",
        "olcSaslSecProps",
        "<properties>",
        Kind::Words(sasl_secprops),
    ),
    Directive::many(
        "sasl-auxprops",
        "olcSaslAuxprops",
        "<>",
        Kind::Needless(NO_PROPERTIES),
    ),
    Directive::many(
        "sasl-auxprops-dontusecopy",
        "olcSaslAuxpropsDontUseCopy",
        "<>",
        Kind::Needless(NO_PROPERTIES),
    ),
    Directive::one(
        "sasl-auxprops-dontusecopy-ignore",
        "olcSaslAuxpropsDontUseCopyIgnore",
        "<on|off>",
        Kind::Needless(NO_PROPERTIES),
    ),
];

fn crl_check(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let word = statement.first();
    // slapd takes anything here; what it does not know asks for nothing.
    let value = CrlCheck::parse(&word.to_ascii_lowercase());
    if let Err(hint) = &value
        && !word.is_empty()
    {
        let text = format!("{}: {hint}; none holds", statement.keyword);
        reader.warn(statement.origin.clone(), text);
    }
    let value = Sourced::new(value.unwrap_or_default(), statement.origin.clone());
    reader.layer.global.tls_crl_check = Some(value);
    Ok(())
}

fn protocol_min(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let word = statement.first();
    let version = TlsVersion::parse(word).or_else(|_| match version_number(word) {
        Some(number) if number <= (3, 3) => Ok(TlsVersion::Tls12),
        Some(_) => Ok(TlsVersion::Tls13),
        None => Err(format!(
            "<{}> unable to parse version \"{word}\"",
            statement.keyword
        )),
    })?;
    let value = Sourced::new(version, statement.origin.clone());
    reader.layer.global.tls_protocol_min = Some(value);
    Ok(())
}

/// `3.3` or `3`.
fn version_number(word: &str) -> Option<(u32, u32)> {
    let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn authz_regexp(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    if let [pattern, replacement] = statement.arguments.as_slice() {
        let rule = AuthzRegexp {
            pattern: pattern.clone(),
            replacement: replacement.clone(),
        };
        let rule = Sourced::new(rule, statement.origin.clone());
        reader.layer.global.authz_regexp.push(rule);
    }
    Ok(())
}

fn sasl_secprops(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
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
    let words = words
        .into_iter()
        .filter(|word| !word.eq_ignore_ascii_case("none"));
    let value = Sourced::new(words.collect(), statement.origin.clone());
    reader.layer.global.sasl_security = Some(value);
    Ok(())
}
