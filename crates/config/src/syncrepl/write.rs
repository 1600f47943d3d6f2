//! Writes a provider as slapd writes it back: each keyword in its order, text in quotes.

use fulgurite_policy::{BindMethod, Credentials, SyncData, SyncTls, Syncrepl};

/// Returns the value of `olcSyncrepl`.
pub(super) fn write(syncrepl: &Syncrepl) -> String {
    let mut out = format!("rid={:03} provider={}", syncrepl.rid, syncrepl.provider);
    bind(&mut out, syncrepl);
    let keepalive = syncrepl.keepalive;
    out.push_str(&format!(
        " keepalive={}:{}:{} tcp-user-timeout={} starttls={}",
        keepalive.idle_s,
        keepalive.probes,
        keepalive.interval_s,
        syncrepl.tcp_user_timeout_ms,
        syncrepl.start_tls.as_str()
    ));
    tls(&mut out, &syncrepl.tls);
    content(&mut out, syncrepl);
    schedule(&mut out, syncrepl);
    if syncrepl.size_limit > 0 {
        out.push_str(&format!(" sizelimit={}", syncrepl.size_limit));
    }
    if syncrepl.time_limit_s > 0 {
        out.push_str(&format!(" timelimit={}", syncrepl.time_limit_s));
    }
    if syncrepl.data == SyncData::AccessLog {
        out.push_str(" syncdata=accesslog");
    }
    if syncrepl.lazy_commit {
        out.push_str(" lazycommit");
    }
    // slapd loses these two; a server that reads its own file back should not.
    if syncrepl.strict_refresh {
        out.push_str(" strictrefresh");
    }
    if !syncrepl.manage_dsa_it {
        out.push_str(" manageDSAit=0");
    }
    out
}

fn quoted(out: &mut String, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        out.push_str(&format!(" {key}=\"{value}\""));
    }
}

fn plain(out: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        out.push_str(&format!(" {key}={value}"));
    }
}

fn bind(out: &mut String, syncrepl: &Syncrepl) {
    let bind = &syncrepl.bind;
    out.push_str(&format!(
        " bindmethod={} timeout={} network-timeout={}",
        bind.method.as_str(),
        syncrepl.timeout_s,
        syncrepl.network_timeout_s
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

fn tls(out: &mut String, tls: &SyncTls) {
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

fn content(out: &mut String, syncrepl: &Syncrepl) {
    quoted(out, "filter", Some(&syncrepl.filter));
    quoted(out, "searchbase", Some(&syncrepl.search_base));
    quoted(out, "suffixmassage", syncrepl.suffix_massage.as_ref());
    quoted(out, "logfilter", syncrepl.log_filter.as_ref());
    quoted(out, "logbase", syncrepl.log_base.as_ref());
    plain(out, "scope", Some(syncrepl.scope.as_str()));
    if syncrepl.attributes_only {
        out.push_str(" attrsonly");
    }
    if !syncrepl.attributes.is_empty() {
        quoted(out, "attrs", Some(&syncrepl.attributes.join(",")));
    }
    if !syncrepl.excluded.is_empty() {
        plain(out, "exattrs", Some(&syncrepl.excluded.join(",")));
    }
    let checked = if syncrepl.schema_checking {
        "on"
    } else {
        "off"
    };
    plain(out, "schemachecking", Some(checked));
}

fn schedule(out: &mut String, syncrepl: &Syncrepl) {
    if syncrepl.persist {
        out.push_str(" type=refreshAndPersist");
    } else {
        let seconds = syncrepl.interval_s;
        out.push_str(&format!(
            " type=refreshOnly interval={:02}:{:02}:{:02}:{:02}",
            seconds / 86_400,
            seconds / 3_600 % 24,
            seconds / 60 % 60,
            seconds % 60
        ));
    }
    let Some(list) = &syncrepl.retry else {
        out.push_str(" retry=undefined");
        return;
    };
    let steps = list.steps.iter().map(|(pause, count)| match count {
        Some(count) => format!("{pause} {count}"),
        None => format!("{pause} +"),
    });
    let steps: Vec<String> = steps.collect();
    quoted(out, "retry", Some(&steps.join(" ")));
}
