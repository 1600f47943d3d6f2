//! The directive `syncrepl`: the check of its names, and its place in the options of a database.

use std::sync::Arc;

use fulgurite_config::{
    Chain, ConfigError, Database, DatabaseKind, Global, ServerId, Settings, Sourced,
    SyncreplSetting, is_own_url,
};
use fulgurite_directory::{Forwarding, ReplicationOptions};
use fulgurite_ldap::{FilterBuf, LdapUrl, Scheme};
use fulgurite_policy::{
    BindMethod, OverlaySettings, ProviderLink, StartTls, SyncData, SyncScope, Syncrepl,
};
use fulgurite_schema::{Dn, Schema};

/// Warns of providers of the configuration that it is not copied from.
pub(super) fn warn_of_configuration(settings: &Settings) {
    let content = &settings.config.content;
    for setting in &content.syncrepl {
        let rid = setting.value.settings.rid;
        if let Some(reason) = objection(settings, &setting.value.settings) {
            tracing::warn!(
                "{}: syncrepl rid={rid:03}: cn=config is not copied: {reason}",
                setting.origin
            );
        }
    }
}

/// Returns the reason why the configuration is not copied from a provider.
fn objection(settings: &Settings, consumer: &Syncrepl) -> Option<&'static str> {
    if consumer.data == SyncData::AccessLog {
        return Some("there is no log of its operations");
    }
    if consumer.suffix_massage.is_some() {
        return Some("its names cannot be moved by suffixmassage");
    }
    if !*settings.config.content.multi_provider {
        return None;
    }
    if ServerId::own(&settings.global.server_ids, &settings.global.listen) == 0 {
        return Some("servers that merge it need a serverID");
    }
    // An entry that a provider does not tell counts as deleted there.
    let attributes = consumer.attributes.iter();
    let is_whole = consumer.search_base.eq_ignore_ascii_case("cn=config")
        && consumer.scope == SyncScope::Subtree
        && consumer.filter.eq_ignore_ascii_case("(objectclass=*)")
        && attributes
            .map(String::as_str)
            .all(|name| ["*", "+"].contains(&name))
        && consumer.attributes.len() != 1
        && consumer.excluded.is_empty()
        && !consumer.attributes_only;
    (!is_whole).then_some("servers merge the whole of it alone")
}

/// Checks the names, filters and attributes of the providers of a database.
pub(super) fn check(schema: &Arc<Schema>, database: &Database) -> Result<(), ConfigError> {
    let suffixes = database.content.suffixes.iter();
    let suffixes = suffixes.filter_map(|suffix| Dn::parse(schema, suffix).ok());
    let mut suffixes: Vec<Dn> = suffixes.collect();
    if database.kind == DatabaseKind::Config {
        suffixes.extend(Dn::parse(schema, "cn=config"));
    }
    for setting in &database.content.syncrepl {
        let SyncreplSetting { settings, .. } = &setting.value;
        let checked = check_one(schema, &suffixes, settings);
        checked.map_err(|text| ConfigError::at(&setting.origin, text))?;
        if sends_password_in_clear(settings) {
            tracing::warn!(
                "{}: syncrepl rid={:03}: the password travels without TLS: use starttls=critical or \
                 ldaps",
                setting.origin,
                settings.rid
            );
        }
    }
    Ok(())
}

fn check_one(schema: &Schema, suffixes: &[Dn], settings: &Syncrepl) -> Result<(), String> {
    let name = |what: &str, text: &str| {
        let invalid = |_| format!("Invalid {what} DN \"{text}\": 21 (Invalid syntax).");
        Dn::parse(schema, text).map_err(invalid)
    };
    let within = |what: &str, text: &str, dn: &Dn| {
        let outside = || format!("{what} DN \"{text}\" is not within the database naming context.");
        let mut suffixes = suffixes.iter();
        let inside = suffixes.any(|suffix| dn.is_within(suffix));
        inside.then_some(()).ok_or_else(outside)
    };
    let base = name("base", &settings.search_base)?;
    match &settings.suffix_massage {
        Some(text) => within("Massage", text, &name("massage", text)?)?,
        None => within("Base", &settings.search_base, &base)?,
    }
    if let Some(log) = &settings.log_base {
        name("logbase", log)?;
    }
    let filters = [
        ("filter", Some(&settings.filter)),
        ("logfilter", settings.log_filter.as_ref()),
    ];
    for (what, text) in filters {
        let text = text.filter(|text| FilterBuf::parse(text).is_err());
        if let Some(text) = text {
            let (rid, base) = (settings.rid, settings.local_base());
            return Err(format!(
                "syncrepl rid={rid:03} searchbase=\"{base}\": unable to parse {what}=\"{text}\""
            ));
        }
    }
    let names = settings.attributes.iter().chain(&settings.excluded);
    for name in names {
        if !is_known(schema, name) {
            return Err(format!(
                "failed to add syncinfo: unknown attribute \"{name}\""
            ));
        }
    }
    Ok(())
}

fn is_known(schema: &Schema, name: &str) -> bool {
    let class = name.strip_prefix(['@', '!']);
    name == "*"
        || name == "+"
        || class.is_some_and(|class| schema.object_class(class).is_some())
        || schema.describe(name.as_bytes()).is_ok()
}

fn sends_password_in_clear(settings: &Syncrepl) -> bool {
    let is_plain = match settings.link.bind.method {
        BindMethod::Simple => {
            settings.link.bind.dn.is_some() && settings.link.bind.credentials.is_some()
        }
        BindMethod::Sasl => {
            let mechanism = settings.link.bind.mechanism.as_deref();
            mechanism.is_some_and(|name| name.eq_ignore_ascii_case("PLAIN"))
        }
    };
    let url = LdapUrl::parse(&settings.link.url);
    let is_open = url.is_ok_and(|url| url.scheme == Scheme::Ldap);
    is_plain && is_open && settings.link.start_tls != StartTls::Critical
}

/// Returns the replication of a database.
///
/// # Errors
/// [`ConfigError`] for a wrong directive of an overlay `chain`.
pub(super) fn options(
    settings: &Settings,
    database: &Database,
) -> Result<ReplicationOptions, ConfigError> {
    let (global, content) = (&settings.global, &database.content);
    let consumers = content.syncrepl.iter();
    let urls = content.update_refs.iter();
    Ok(ReplicationOptions {
        forwarding: forwarding(settings, database)?,
        consumers: consumers
            .map(|setting| &setting.value.settings)
            .filter(|settings| is_other_server(global, settings))
            .map(|settings| with_own_tls(global, settings.clone()))
            .collect(),
        update_refs: urls.map(|url| url.value.clone()).collect(),
        update_dn: content.update_dn.value.clone(),
        multi_provider: *content.multi_provider,
    })
}

/// Returns true unless the provider is this server. As in slapd, servers with one configuration
/// may all be named, and each passes over itself.
pub(super) fn is_other_server(global: &Global, settings: &Syncrepl) -> bool {
    !is_own_url(&settings.link.url, &global.listen)
}

/// Returns the providers that the configuration itself is copied from.
pub(super) fn configuration_consumers(settings: &Settings) -> Vec<Syncrepl> {
    let (global, content) = (&settings.global, &settings.config.content);
    let consumers = content.syncrepl.iter();
    consumers
        .map(|setting| &setting.value.settings)
        .filter(|consumer| objection(settings, consumer).is_none())
        .filter(|consumer| is_other_server(global, consumer))
        .map(|settings| with_own_tls(global, settings.clone()))
        .collect()
}

/// Returns the servers that clients' updates go to. They are those of the referral for which an
/// overlay `chain` has an identity.
fn forwarding(settings: &Settings, database: &Database) -> Result<Option<Forwarding>, ConfigError> {
    let is_chain = |overlay: &&OverlaySettings| overlay.name.eq_ignore_ascii_case("chain");
    let own = database.overlays.iter().find(is_chain);
    let general = settings.frontend_overlays.iter().find(is_chain);
    let Some(overlay) = own.or(general) else {
        return Ok(None);
    };
    let chain = Chain::read(overlay)?;
    let own: &[Sourced<String>] = &database.content.update_refs;
    let urls = match own.is_empty() {
        true => &settings.global.referrals,
        false => own,
    };
    let links = urls.iter().filter_map(|url| chain.link(url));
    let links = links.map(|mut link| {
        add_own_tls(&settings.global, &mut link);
        link
    });
    let links: Vec<ProviderLink> = links.collect();
    Ok((!links.is_empty()).then_some(Forwarding {
        links,
        return_error: chain.return_error,
    }))
}

/// Gives a consumer the server's own authorities and certificate, unless it has others.
fn with_own_tls(global: &Global, mut settings: Syncrepl) -> Syncrepl {
    add_own_tls(global, &mut settings.link);
    settings
}

fn add_own_tls(global: &Global, link: &mut ProviderLink) {
    let tls = &mut link.tls;
    if tls.ca_file.is_none() && tls.ca_path.is_none() {
        tls.ca_file.clone_from(&global.tls_ca.value);
        tls.ca_path.clone_from(&global.tls_ca_directory.value);
    }
    if tls.certificate_file.is_none() && tls.key_file.is_none() {
        tls.certificate_file
            .clone_from(&global.tls_certificate.value);
        tls.key_file.clone_from(&global.tls_key.value);
    }
}

#[cfg(test)]
mod tests {
    use fulgurite_config::Layer;

    use super::*;

    #[test]
    fn the_configuration_is_not_copied_under_other_names() {
        let usual = "rid=1 provider=ldap://127.0.0.1:9 type=refreshAndPersist";
        let consumers = |more: &str| {
            let text = format!("database config\nrootdn cn=config\nsyncrepl {usual} {more}\n");
            let layer = Layer::from_slapd_conf_text(&text, "slapd.conf".as_ref()).unwrap();
            configuration_consumers(&Settings::new(layer).unwrap()).len()
        };
        assert_eq!(consumers("searchbase=cn=config"), 1);
        let moved = "searchbase=\"cn=config,cn=consumer\" suffixmassage=cn=config";
        assert_eq!(consumers(moved), 0);
        assert_eq!(
            consumers("searchbase=cn=config syncdata=accesslog logbase=cn=log"),
            0
        );
    }
}
