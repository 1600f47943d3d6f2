//! Settings as attributes, under the names and in the order in which slapd writes them.

use super::entries::{ConfigEntry, numbered};
use crate::levels::level_names;
use crate::model::{Content, Database, Policy};
use crate::setting::Setting;
use crate::words::quoted;
use crate::{Settings, Sourced};
use fulgurite_policy::{
    DatabaseKind, Durability, FeatureSet as _, Limit, SizeLimits, Subordinate, TimeLimits,
};

/// `cn=config` itself.
pub(crate) fn global(settings: &Settings) -> ConfigEntry {
    let global = &settings.global;
    let mut entry = ConfigEntry::new("cn=config".to_owned(), &["olcGlobal"], "cn", "config");
    let words = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect::<Vec<_>>();
    entry.add("olcAllows", words(global.allow.words()));
    entry.add("olcArgsFile", [global.args_file.show()]);
    let options = ["lang-".to_owned()].into_iter();
    entry.add(
        "olcAttributeOptions",
        options.chain(global.attribute_options.value.clone()),
    );
    entry.add("olcAuthzPolicy", [global.authz_policy.show()]);
    entry.add(
        "olcAuthzRegexp",
        numbered(global.authz_regexp.iter().map(|rule| {
            format!(
                "\"{}\" \"{}\"",
                escaped(&rule.pattern),
                escaped(&rule.replacement)
            )
        })),
    );
    entry.add("olcConnMaxPending", [global.pending_anonymous.show()]);
    entry.add("olcConnMaxPendingAuth", [global.pending.show()]);
    entry.add("olcDisallows", words(global.disallow.words()));
    entry.add("olcGentleHUP", [truth(*global.gentle_hup)]);
    entry.add("olcIdleTimeout", [global.idle.unwrap_or(0).to_string()]);
    entry.add("olcIndexSubstrIfMaxLen", [global.substr_if_max_len.show()]);
    entry.add("olcIndexSubstrIfMinLen", [global.substr_if_min_len.show()]);
    entry.add("olcIndexSubstrAnyLen", [global.substr_any_len.show()]);
    entry.add("olcIndexSubstrAnyStep", [global.substr_any_step.show()]);
    entry.add("olcIndexHash64", [truth(*global.index_hash64)]);
    entry.add("olcIndexIntLen", [global.index_int_len.show()]);
    entry.add("olcLocalSSF", [global.local_ssf.show()]);
    entry.add("olcLogFile", [global.log_file.show()]);
    entry.add("olcLogLevel", level_names(*global.log_mask));
    entry.add("olcMaxFilterDepth", [global.filter_depth.show()]);
    entry.add(
        "olcPasswordCryptSaltFormat",
        [global.crypt_salt_format.show()],
    );
    entry.add("olcPidFile", [global.pid_file.show()]);
    entry.add(
        "olcReferral",
        global.referrals.iter().map(|url| url.value.clone()),
    );
    entry.add("olcReverseLookup", [truth(*global.reverse_lookup)]);
    entry.add("olcRootDSE", global.root_dse.iter().map(|file| file.show()));
    entry.add("olcSaslHost", [global.sasl_host.show()]);
    entry.add("olcSaslRealm", [global.sasl_realm.show()]);
    let properties = match global.sasl_security.is_empty() {
        true => "none".to_owned(),
        false => global.sasl_security.join(","),
    };
    entry.add("olcSaslSecProps", [properties]);
    entry.add("olcServerID", global.server_ids.iter().map(|id| id.show()));
    entry.add(
        "olcSockbufMaxIncoming",
        [global.request_bytes_anonymous.show()],
    );
    entry.add("olcSockbufMaxIncomingAuth", [global.request_bytes.show()]);
    entry.add(
        "olcThreads",
        global.threads.0.map(|threads| threads.to_string()),
    );
    entry.add("olcTLSCACertificateFile", [global.tls_ca.show()]);
    entry.add("olcTLSCACertificatePath", [global.tls_ca_directory.show()]);
    entry.add("olcTLSCertificateFile", [global.tls_certificate.show()]);
    entry.add("olcTLSCertificateKeyFile", [global.tls_key.show()]);
    entry.add("olcTLSCipherSuite", [global.tls_ciphers.show()]);
    if global.tls_certificate.is_some() {
        entry.add("olcTLSCRLCheck", [global.tls_crl_check.show()]);
    }
    entry.add("olcTLSCRLFile", [global.tls_crl.show()]);
    entry.add("olcTLSDHParamFile", [global.tls_dh_parameters.show()]);
    entry.add("olcTLSECName", [global.tls_curves.show()]);
    entry.add("olcTLSVerifyClient", [global.tls_verify_client.show()]);
    if !global.tls_protocol_min.is_default() {
        let version = match *global.tls_protocol_min {
            crate::TlsVersion::Tls12 => "3.3",
            crate::TlsVersion::Tls13 => "3.4",
        };
        entry.add("olcTLSProtocolMin", [version.to_owned()]);
    }
    entry.add("olcToolThreads", [global.tool_threads.show()]);
    entry.add("olcWriteTimeout", [global.write.unwrap_or(0).to_string()]);
    entry
}

/// `olcDatabase={-1}frontend,cn=config`: the rules of all databases.
pub(crate) fn frontend(settings: &Settings) -> ConfigEntry {
    let name = "{-1}frontend";
    let dn = format!("olcDatabase={name},cn=config");
    let classes = ["olcDatabaseConfig", "olcFrontendConfig"];
    let mut entry = ConfigEntry::new(dn, &classes, "olcDatabase", name);
    let global = &settings.global;
    policy(&mut entry, &settings.frontend);
    entry.add("olcDefaultSearchBase", [global.default_search_base.show()]);
    entry.add("olcSchemaDN", ["cn=Subschema".to_owned()]);
    entry.add("olcPasswordHash", global.password_hash.value.clone());
    entry.add("olcSortVals", global.sort_values.value.clone());
    entry
}

/// One database under its numbered name.
pub(crate) fn database(database: &Database, name: &str, secrets: bool) -> ConfigEntry {
    let dn = format!("olcDatabase={name},cn=config");
    let classes: &[&str] = match database.kind {
        DatabaseKind::Mdb => &["olcDatabaseConfig", "olcMdbConfig"],
        DatabaseKind::Monitor => &["olcDatabaseConfig", "olcMonitorConfig"],
        DatabaseKind::Config => &["olcDatabaseConfig"],
    };
    let mut entry = ConfigEntry::new(dn, classes, "olcDatabase", name);
    content(&mut entry, &database.content, secrets);
    policy(&mut entry, &database.policy);
    if database.kind == DatabaseKind::Mdb {
        storage(&mut entry, database);
    }
    entry
}

fn content(entry: &mut ConfigEntry, content: &Content, secrets: bool) {
    let texts =
        |list: &[Sourced<String>]| list.iter().map(|one| one.value.clone()).collect::<Vec<_>>();
    entry.add("olcSuffix", texts(&content.suffixes));
    entry.add("olcRootDN", [content.root_dn.show()]);
    if let Some(password) = &content.root_password.value
        && (secrets || password.0.starts_with('{'))
    {
        entry.add("olcRootPW", [password.0.clone()]);
    }
    entry.add(
        "olcSubordinate",
        match *content.subordinate {
            Subordinate::No => None,
            Subordinate::Glued => Some("TRUE".to_owned()),
            Subordinate::Advertised => Some("advertise".to_owned()),
        },
    );
    if *content.hidden {
        entry.add("olcHidden", [truth(true)]);
    }
    entry.add("olcMonitoring", [truth(*content.monitoring)]);
    entry.add("olcSyncUseSubentry", [truth(*content.sync_use_subentry)]);
    entry.add("olcUpdateDN", [content.update_dn.show()]);
    entry.add("olcSyncrepl", numbered(texts(&content.syncrepl)));
    entry.add("olcUpdateRef", texts(&content.update_refs));
    if *content.multi_provider {
        entry.add("olcMultiProvider", [truth(true)]);
    }
}

fn policy(entry: &mut ConfigEntry, policy: &Policy) {
    entry.add(
        "olcAccess",
        numbered(policy.access.iter().map(|rule| rule.value.clone())),
    );
    entry.add("olcAddContentAcl", [truth(*policy.add_content_acl)]);
    entry.add("olcLastMod", [truth(*policy.last_mod)]);
    entry.add("olcLastBind", [truth(*policy.last_bind)]);
    if *policy.last_bind_precision > 0 {
        entry.add("olcLastBindPrecision", [policy.last_bind_precision.show()]);
    }
    entry.add(
        "olcLimits",
        numbered(policy.limits.iter().map(|rule| rule.show())),
    );
    entry.add("olcMaxDerefDepth", [policy.max_deref_depth.show()]);
    entry.add("olcReadOnly", [truth(*policy.read_only)]);
    let words = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect::<Vec<_>>();
    entry.add("olcRequires", words(policy.require.words()));
    entry.add("olcRestrict", policy.restrict.words());
    entry.add("olcSecurity", policy.security.words());
    entry.add("olcSizeLimit", [size_limit(&policy.size)]);
    entry.add("olcTimeLimit", [time_limit(&policy.time)]);
    entry.add("olcExtraAttrs", policy.extra_attributes.value.clone());
}

fn storage(entry: &mut ConfigEntry, database: &Database) {
    let storage = &database.storage;
    entry.add("olcDbDirectory", [storage.directory.show()]);
    entry.add(
        "olcDbEnvFlags",
        match *storage.durability {
            Durability::NoMetaSync => Some("nometasync".to_owned()),
            _ => None,
        },
    );
    entry.add(
        "olcDbNoSync",
        [truth(*storage.durability == Durability::NoSync)],
    );
    let default = *storage.index_default;
    let default = (!default.is_none()).then(|| format!("default {default}"));
    let kept = database.indexes().into_iter();
    let kept = kept.map(|index| format!("{} {}", index.attribute, index.kinds));
    entry.add("olcDbIndex", default.into_iter().chain(kept));
    entry.add("olcDbMaxReaders", [storage.readers_max.show()]);
    entry.add("olcDbMaxSize", [storage.map_bytes_max.show()]);
    entry.add("olcDbMode", [storage.mode.show()]);
    entry.add(
        "olcDbMaxEntrySize",
        [storage.entry_bytes_max.unwrap_or(0).to_string()],
    );
    entry.add("olcDbRtxnSize", [storage.snapshot_entries.show()]);
}

fn truth(truth: bool) -> String {
    if truth { "TRUE" } else { "FALSE" }.to_owned()
}

/// A number where one says it all, words otherwise.
fn size_limit(size: &SizeLimits) -> String {
    match size.soft.filter(|soft| *size == SizeLimits::up_to(*soft)) {
        Some(Limit::At(number)) => number.to_string(),
        Some(Limit::Unlimited) => "unlimited".to_owned(),
        _ => size.show(),
    }
}

fn time_limit(time: &TimeLimits) -> String {
    match time.soft.filter(|soft| *time == TimeLimits::up_to(*soft)) {
        Some(Limit::At(number)) => number.to_string(),
        Some(Limit::Unlimited) => "unlimited".to_owned(),
        _ => time.show(),
    }
}

fn escaped(text: &str) -> String {
    let quoted = quoted(&format!("{text} "));
    let inner = quoted.trim_matches('"');
    inner.strip_suffix(' ').unwrap_or(inner).to_owned()
}

/// A value without the number in braces before it.
pub(crate) fn without_number(value: &str) -> &str {
    let rest = value
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'));
    match rest {
        Some((number, rest)) if number.parse::<i32>().is_ok() => rest,
        _ => value,
    }
}

/// The number in braces before a value.
pub(crate) fn number_of(value: &str) -> Option<i32> {
    let (number, _) = value.strip_prefix('{')?.split_once('}')?;
    number.parse().ok()
}
