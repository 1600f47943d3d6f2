//! Writes a connection to a provider as slapd writes it back: text in quotes.

use fulgurite_policy::{BindMethod, Credentials, ProviderLink, SyncTls};

/// Appends a keyword and its text in quotes.
pub(crate) fn quoted(out: &mut String, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        out.push_str(&format!(" {key}=\"{value}\""));
    }
}

/// Appends a keyword and its word.
pub(crate) fn plain(out: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        out.push_str(&format!(" {key}={value}"));
    }
}

/// Appends the identity, and the timeouts that slapd writes with it.
pub(crate) fn bind(out: &mut String, link: &ProviderLink) {
    let bind = &link.bind;
    out.push_str(&format!(
        " bindmethod={} timeout={} network-timeout={}",
        bind.method.as_str(),
        link.timeout_s,
        link.network_timeout_s
    ));
    if bind.method == BindMethod::Sasl {
        plain(out, "saslmech", bind.mechanism.as_deref());
        plain(out, "realm", bind.realm.as_deref());
        plain(out, "secprops", bind.properties.as_deref());
        quoted(out, "authcid", bind.user.as_ref());
        quoted(out, "authzid", bind.authorization.as_ref());
    }
    quoted(out, "binddn", bind.dn.as_ref());
    let password = bind.credentials.as_ref().map(|Credentials(text)| text);
    quoted(out, "credentials", password);
    if bind.method == BindMethod::Simple {
        plain(out, "saslmech", bind.mechanism.as_deref());
        plain(out, "realm", bind.realm.as_deref());
        plain(out, "secprops", bind.properties.as_deref());
        quoted(out, "authcid", bind.user.as_ref());
        quoted(out, "authzid", bind.authorization.as_ref());
    }
}

/// Appends how an idle connection is kept.
pub(crate) fn keepalive(out: &mut String, link: &ProviderLink) {
    let keepalive = link.keepalive;
    out.push_str(&format!(
        " keepalive={}:{}:{} tcp-user-timeout={}",
        keepalive.idle_s, keepalive.probes, keepalive.interval_s, link.tcp_user_timeout_ms,
    ));
}

/// Appends the demands on certificates.
pub(crate) fn tls(out: &mut String, tls: &SyncTls) {
    let path = |path: &Option<std::path::PathBuf>| {
        let path = path.as_ref();
        path.map(|path| path.display().to_string())
    };
    quoted(out, "tls_cert", path(&tls.certificate_file).as_ref());
    quoted(out, "tls_key", path(&tls.key_file).as_ref());
    quoted(out, "tls_cacert", path(&tls.ca_file).as_ref());
    quoted(out, "tls_cacertdir", path(&tls.ca_path).as_ref());
    plain(out, "tls_reqcert", tls.demand.map(|demand| demand.as_str()));
    plain(out, "tls_reqsan", tls.san.as_deref());
    quoted(out, "tls_cipher_suite", tls.cipher_suite.as_ref());
    quoted(out, "tls_protocol_min", tls.version_min.as_ref());
    quoted(out, "tls_ecname", tls.curve.as_ref());
    plain(out, "tls_crlcheck", tls.crl_check.as_deref());
}
