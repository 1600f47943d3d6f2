//! Converts settings to the options of the crates that act on them.

use std::time::Duration;

use fulgurite_auth::{AuthzRegexp, Scheme, ScramHash};
use fulgurite_config::{
    ArgumentText, ConfigError, Database, Durability, Global, IndexSetting, Policy, Settings,
    Sourced,
};
use fulgurite_directory::{
    AuthOptions, Level, Limits, Restrictions, RootAccount, RuleText, WithoutRules,
};
use fulgurite_policy::TlsOptions;
use fulgurite_store::IndexSpec;

use crate::backup_status::BackupPlan;
use crate::driver::settings::ServerSettings;
use crate::session::limits::SessionLimits;

/// Returns access rules with the positions of their text.
pub(crate) fn rules(list: &[Sourced<ArgumentText>]) -> Vec<RuleText> {
    list.iter()
        .map(|rule| RuleText {
            text: rule.value.to_string(),
            origin: rule.origin.to_string().into(),
        })
        .collect()
}

pub(crate) fn index(setting: &IndexSetting) -> IndexSpec {
    IndexSpec {
        attribute: setting.attribute.clone(),
        kinds: setting.kinds.kinds,
    }
}

pub(crate) const fn durability(durability: Durability) -> fulgurite_store::Durability {
    match durability {
        Durability::Full => fulgurite_store::Durability::Full,
        Durability::NoMetaSync => fulgurite_store::Durability::NoMetaSync,
        Durability::NoSync => fulgurite_store::Durability::NoSync,
    }
}

/// Returns the backups that the settings ask for.
pub(super) fn backups(global: &Global) -> Option<BackupPlan> {
    let to = global.backup_to.value.clone()?;
    Some(BackupPlan {
        to,
        every: Duration::from_secs(global.backup_every.value.0.into()),
        keep: usize::try_from(global.backup_keep.get()).unwrap_or(usize::MAX),
    })
}

/// Returns the root account of a database. Refuses a stored password that no password can match.
pub(crate) fn root(database: &Database) -> Result<Option<RootAccount>, ConfigError> {
    let Some(dn) = &database.content.root_dn.value else {
        return Ok(None);
    };
    let password = database.root_password()?;
    if let Some(stored) = &password
        && let Err(reason) = fulgurite_auth::verify(stored, b"")
    {
        let content = &database.content;
        let origin = match content.root_password_file.value {
            Some(_) => &content.root_password_file.origin,
            None => &content.root_password.origin,
        };
        return Err(ConfigError::Conflict(format!(
            "{origin}: no login as {dn} is possible with this root password: {reason}"
        )));
    }
    Ok(Some(RootAccount {
        dn: dn.clone(),
        password,
    }))
}

pub(crate) fn limits(policy: &Policy) -> Limits {
    Limits {
        size: *policy.size,
        time: *policy.time,
        rules: policy.limits.clone(),
        ..Limits::default()
    }
}

/// Returns the options of passwords, SASL and proxy authorization.
pub(crate) fn auth(global: &Global) -> Result<AuthOptions, ConfigError> {
    let rules = global.authz_regexp.iter().map(|rule| {
        AuthzRegexp::new(&rule.pattern, &rule.replacement)
            .map_err(|error| ConfigError::at(&rule.origin, error.to_string()))
    });
    let properties = &global.sasl_security;
    let properties = match properties.is_empty() {
        true => "none".parse(),
        false => properties.join(",").parse(),
    };
    Ok(AuthOptions {
        password_hash: schemes(&global.password_hash),
        crypt_salt_format: global.crypt_salt_format.value.clone(),
        scram_keys: scram_keys(&global.scram_keys)?,
        sasl_realm: global.sasl_realm.value.clone(),
        sasl_properties: properties
            .map_err(|message: String| ConfigError::at(&global.sasl_security.origin, message))?,
        authz_regexp: rules.collect::<Result<_, _>>()?,
        authz_policy: *global.authz_policy,
        policies_pass_sasl: !*global.ppolicy_sasl,
        locks_need_no_policy: *global.ppolicy_locks_need_no_policy,
        replicated_state: *global.ppolicy_replicate_state,
        keep_claimed_names: *global.bind_delay > 0,
    })
}

/// Returns the mechanisms whose keys are stored with new passwords.
fn scram_keys(names: &Sourced<Vec<String>>) -> Result<Vec<ScramHash>, ConfigError> {
    let of = |name: &String| {
        let same = |hash: &ScramHash| hash.scheme().eq_ignore_ascii_case(name);
        let unknown = || format!("\"{name}\" is none of SCRAM-SHA-1, SCRAM-SHA-256, SCRAM-SHA-512");
        let found = ScramHash::ALL.into_iter().find(same);
        found.ok_or_else(|| ConfigError::at(&names.origin, unknown()))
    };
    names.iter().map(of).collect()
}

/// Returns the known schemes for new passwords.
fn schemes(names: &[String]) -> Vec<Scheme> {
    let known = names.iter().filter_map(|name| Scheme::from_name(name));
    known.collect()
}

/// Returns the rights without access rules. slapd lets everyone read; Fulgurite protects passwords.
pub(crate) fn without_rules(settings: &Settings) -> WithoutRules {
    match settings.slapd {
        true => WithoutRules::Everything(Level::Read),
        false => WithoutRules::default(),
    }
}

pub(crate) fn restrictions(policy: &Policy) -> Restrictions {
    Restrictions {
        read_only: *policy.read_only,
        restrict: policy.restrict.value.clone(),
        require: *policy.require,
        security: *policy.security,
    }
}

fn tls_options(global: &fulgurite_config::Global) -> TlsOptions {
    TlsOptions {
        certificate_file: global.tls_certificate.value.clone(),
        key_file: global.tls_key.value.clone(),
        ca_file: global.tls_ca.value.clone(),
        ca_path: global.tls_ca_directory.value.clone(),
        verify_client: *global.tls_verify_client,
        version_min: *global.tls_protocol_min,
        cipher_suite: global.tls_ciphers.value.clone(),
        crl_file: global.tls_crl.value.clone(),
        crl_check: *global.tls_crl_check,
        dh_param_file: global.tls_dh_parameters.value.clone(),
    }
}

impl From<&Settings> for ServerSettings {
    fn from(settings: &Settings) -> Self {
        let defaults = ServerSettings::default();
        let global = &settings.global;
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let pending = global.pending.get() as usize;
        let seconds = |limit: Option<u32>| limit.map(|s| Duration::from_secs(s.into()));
        ServerSettings {
            workers: global
                .threads
                .0
                .map_or(defaults.workers, |threads| threads as usize),
            connections_max: global.connections.get() as usize,
            tcp_buffers: global
                .tcp_buffers
                .iter()
                .map(|one| one.value.clone())
                .collect(),
            tls: tls_options(global),
            local_ssf: *global.local_ssf,
            identity_pending_max: global.pending_identity.get() as usize,
            session: SessionLimits {
                request_bytes_max_anonymous: bytes(*global.request_bytes_anonymous),
                request_bytes_max_authenticated: bytes(*global.request_bytes),
                pending_max_anonymous: pending.min(global.pending_anonymous.get() as usize),
                pending_max_authenticated: pending,
                filter_depth_max: u16::try_from(global.filter_depth.get()).unwrap_or(u16::MAX),
                bind_delay_max: Duration::from_secs((*global.bind_delay).into()),
                idle_timeout: seconds(*global.idle),
                write_timeout: seconds(*global.write),
                ..SessionLimits::default()
            },
            log_operations: *global.log_operations,
            ..defaults
        }
    }
}

#[cfg(test)]
mod tests {
    use fulgurite_config::{Layer, Origin, Settings};

    use super::*;

    #[test]
    fn names_are_kept_where_binds_are_delayed() {
        for (delay, kept) in [("0", false), ("3", true)] {
            let mut layer = Layer::default();
            let origin = Origin::Flag("--bind-delay");
            layer
                .set("limits.bind_delay", delay, &origin)
                .expect("a number");
            let settings = Settings::new(layer).expect("sound");
            let options = auth(&settings.global).expect("sound");
            assert_eq!(options.keep_claimed_names, kept);
        }
    }
}
