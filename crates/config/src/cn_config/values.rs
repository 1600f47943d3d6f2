//! Settings as attributes, under the names and in the order in which slapd writes them.

use fulgurite_policy::DatabaseKind;

use super::entry::{ConfigEntry, numbered};
use crate::database::Database;
use crate::table::{Content, Global, Policy, Row, Storage};
use crate::value_tokens::{quoted_token, split_value};
use crate::{Settings, table};

/// Attributes of `cn=config` in slapd's order. New ones follow in the order of the table.
const GLOBAL_ORDER: &[&str] = &[
    "olcAllows",
    "olcArgsFile",
    "olcAttributeOptions",
    "olcAuthzPolicy",
    "olcAuthzRegexp",
    "olcConnMaxPending",
    "olcConnMaxPendingAuth",
    "olcDisallows",
    "olcGentleHUP",
    "olcIdleTimeout",
    "olcIndexSubstrIfMaxLen",
    "olcIndexSubstrIfMinLen",
    "olcIndexSubstrAnyLen",
    "olcIndexSubstrAnyStep",
    "olcIndexHash64",
    "olcIndexIntLen",
    "olcLocalSSF",
    "olcLogFile",
    "olcLogLevel",
    "olcMaxFilterDepth",
    "olcPasswordCryptSaltFormat",
    "olcPidFile",
    "olcReferral",
    "olcReverseLookup",
    "olcRootDSE",
    "olcSaslHost",
    "olcSaslRealm",
    "olcSaslSecProps",
    "olcServerID",
    "olcSockbufMaxIncoming",
    "olcSockbufMaxIncomingAuth",
    "olcThreads",
    "olcTLSCACertificateFile",
    "olcTLSCACertificatePath",
    "olcTLSCertificateFile",
    "olcTLSCertificateKeyFile",
    "olcTLSCipherSuite",
    "olcTLSCRLCheck",
    "olcTLSCRLFile",
    "olcTLSDHParamFile",
    "olcTLSECName",
    "olcTLSVerifyClient",
    "olcTLSProtocolMin",
    "olcToolThreads",
    "olcWriteTimeout",
];

/// Attributes of the server that slapd writes into the frontend's entry.
const FRONTEND_ORDER: &[&str] = &[
    "olcDefaultSearchBase",
    "olcSchemaDN",
    "olcPasswordHash",
    "olcSortVals",
];

/// Attributes of a database's names, root and replication in slapd's order.
const CONTENT_ORDER: &[&str] = &[
    "olcSuffix",
    "olcRootDN",
    "olcRootPW",
    "olcSubordinate",
    "olcHidden",
    "olcMonitoring",
    "olcSyncUseSubentry",
    "olcUpdateDN",
    "olcSyncrepl",
    "olcUpdateRef",
    "olcMultiProvider",
];

/// Attributes of rules in slapd's order.
const POLICY_ORDER: &[&str] = &[
    "olcAccess",
    "olcAddContentAcl",
    "olcLastMod",
    "olcLastBind",
    "olcLastBindPrecision",
    "olcLimits",
    "olcMaxDerefDepth",
    "olcReadOnly",
    "olcRequires",
    "olcRestrict",
    "olcSecurity",
    "olcSizeLimit",
    "olcTimeLimit",
    "olcExtraAttrs",
];

/// Attributes of a store in slapd's order.
const STORAGE_ORDER: &[&str] = &[
    "olcDbDirectory",
    "olcDbEnvFlags",
    "olcDbNoSync",
    "olcDbIndex",
    "olcDbMaxReaders",
    "olcDbMaxSize",
    "olcDbMode",
    "olcDbMaxEntrySize",
    "olcDbRtxnSize",
];

/// Returns `cn=config` itself.
pub(crate) fn global(settings: &Settings) -> ConfigEntry {
    let mut entry = ConfigEntry::new("cn=config".to_owned(), &["olcGlobal"], "cn", "config");
    let rows = Global::SETTINGS.iter().chain(Global::DIRECTIVES);
    let rows = rows.filter(|row| !FRONTEND_ORDER.contains(&attribute(row)));
    write(&mut entry, rows, &settings.global, GLOBAL_ORDER);
    entry
}

/// Returns `olcDatabase={-1}frontend,cn=config`, the rules of all databases.
pub(crate) fn frontend(settings: &Settings) -> ConfigEntry {
    let name = "{-1}frontend";
    let dn = format!("olcDatabase={name},cn=config");
    let classes = ["olcDatabaseConfig", "olcFrontendConfig"];
    let mut entry = ConfigEntry::new(dn, &classes, "olcDatabase", name);
    policy(&mut entry, &settings.frontend);
    let rows = Global::SETTINGS.iter().chain(Global::DIRECTIVES);
    let rows = rows.filter(|row| FRONTEND_ORDER.contains(&attribute(row)));
    write(&mut entry, rows, &settings.global, FRONTEND_ORDER);
    entry
}

/// Returns the entry of one database under its numbered name.
pub(crate) fn database(database: &Database, name: &str, secrets: bool) -> ConfigEntry {
    let dn = format!("olcDatabase={name},cn=config");
    let classes: &[&str] = match database.kind {
        DatabaseKind::Mdb => &["olcDatabaseConfig", "olcMdbConfig"],
        DatabaseKind::Monitor => &["olcDatabaseConfig", "olcMonitorConfig"],
        DatabaseKind::Config => &["olcDatabaseConfig"],
    };
    let mut entry = ConfigEntry::new(dn, classes, "olcDatabase", name);
    write(
        &mut entry,
        Content::SETTINGS.iter(),
        &database.content,
        CONTENT_ORDER,
    );
    if !secrets {
        entry.remove_clear_passwords();
    }
    policy(&mut entry, &database.policy);
    if database.kind == DatabaseKind::Mdb {
        let rows = Storage::SETTINGS.iter().chain(Storage::DIRECTIVES);
        write(&mut entry, rows, &database.storage, STORAGE_ORDER);
    }
    entry
}

fn policy(entry: &mut ConfigEntry, policy: &Policy) {
    write(entry, Policy::SETTINGS.iter(), policy, POLICY_ORDER);
}

fn attribute<L, G>(row: &table::Row<L, G>) -> &'static str {
    row.info
        .directive
        .as_ref()
        .map_or("", |directive| directive.olc)
}

/// Adds the attributes of a group.
fn write<L: 'static, G: 'static>(
    entry: &mut ConfigEntry,
    rows: impl Iterator<Item = &'static Row<L, G>>,
    group: &G,
    order: &[&str],
) {
    let mut rows: Vec<_> = rows.filter(|row| !attribute(row).is_empty()).collect();
    rows.sort_by_key(|row| {
        let place = order.iter().position(|olc| *olc == attribute(row));
        place.unwrap_or(usize::MAX)
    });
    for row in rows {
        let mut values = (row.write)(group);
        let Some(directive) = row.info.directive else {
            continue;
        };
        if directive.most == Some(1) && !directive.whole {
            values.iter_mut().for_each(quote_if_needed);
        }
        match directive.numbered {
            true => entry.add(attribute(row), numbered(values)),
            false => entry.add(attribute(row), values),
        }
    }
}

/// Puts a value that would be read as several arguments in quotes.
fn quote_if_needed(value: &mut String) {
    if split_value(value).len() > 1
        && let Some(quoted) = quoted_token(value)
    {
        *value = quoted;
    }
}
