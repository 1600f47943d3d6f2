//! Reads the words about a connection to a provider. Errors are slapd's sentences.

use std::path::PathBuf;

use fulgurite_policy::{
    BindMethod, CertificateDemand, Choice, Credentials, Keepalive, ProviderLink, StartTls,
};

/// Returns the sentence about a word that cannot be read.
pub(crate) fn unreadable(word: &str) -> String {
    format!("Error: parse_syncrepl_line: unable to parse \"{word}\"")
}

fn number(word: &str, value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| unreadable(word))
}

fn choice<C: Choice>(word: &str, value: &str) -> Result<C, String> {
    C::from_word(&value.to_ascii_lowercase()).map_err(|_| unreadable(word))
}

/// Reads a word about the identity, the socket or TLS. Returns false for any other word.
pub(crate) fn word(
    link: &mut ProviderLink,
    key: &str,
    word: &str,
    value: &str,
) -> Result<bool, String> {
    Ok(identity(link, key, word, value)?
        || connection(link, key, word, value)?
        || tls(link, key, word, value)?)
}

fn identity(link: &mut ProviderLink, key: &str, word: &str, value: &str) -> Result<bool, String> {
    let bind = &mut link.bind;
    let text = Some(value.to_owned());
    match key {
        "bindmethod" => bind.method = choice::<BindMethod>(word, value)?,
        "binddn" => bind.dn = text.filter(|text| !text.is_empty()),
        "credentials" => bind.credentials = text.map(Credentials),
        "saslmech" => bind.mechanism = text,
        "authcid" => bind.user = text,
        "authzid" => bind.authorization = text,
        "realm" => bind.realm = text,
        "secprops" => bind.properties = text,
        _ => return Ok(false),
    }
    Ok(true)
}

fn connection(link: &mut ProviderLink, key: &str, word: &str, value: &str) -> Result<bool, String> {
    match key {
        "starttls" => link.start_tls = choice::<StartTls>(word, value)?,
        "network-timeout" => link.network_timeout_s = number(word, value)?,
        "timeout" => link.timeout_s = number(word, value)?,
        "tcp-user-timeout" => link.tcp_user_timeout_ms = number(word, value)?,
        "keepalive" => link.keepalive = keepalive(word, value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn tls(link: &mut ProviderLink, key: &str, word: &str, value: &str) -> Result<bool, String> {
    let tls = &mut link.tls;
    let (path, text) = (Some(PathBuf::from(value)), Some(value.to_owned()));
    match key {
        "tls_cert" => tls.certificate_file = path,
        "tls_key" => tls.key_file = path,
        "tls_cacert" => tls.ca_file = path,
        "tls_cacertdir" => tls.ca_path = path,
        "tls_reqcert" => tls.demand = Some(choice::<CertificateDemand>(word, value)?),
        "tls_reqsan" => tls.san = text,
        "tls_cipher_suite" => tls.cipher_suite = text,
        "tls_protocol_min" => tls.version_min = text,
        "tls_ecname" => tls.curve = text,
        "tls_crlcheck" => match value {
            "none" | "peer" | "all" => tls.crl_check = text,
            _ => return Err(unreadable(word)),
        },
        _ => return Ok(false),
    }
    Ok(true)
}

fn keepalive(word: &str, value: &str) -> Result<Keepalive, String> {
    let numbers: Result<Vec<u32>, _> = value.split(':').map(str::parse).collect();
    match numbers.as_deref() {
        Ok([idle_s, probes, interval_s]) => Ok(Keepalive {
            idle_s: *idle_s,
            probes: *probes,
            interval_s: *interval_s,
        }),
        _ => Err(unreadable(word)),
    }
}
