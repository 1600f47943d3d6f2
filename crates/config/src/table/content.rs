//! Settings of a database's names, its root and its replication.

use std::path::PathBuf;

use fulgurite_policy::Subordinate;

use super::flag::{Flag, FlagGroup};
use super::group::settings;
use super::spec::{own, slapd};
use crate::plain_name::is_within;
use crate::secret::Secret;
use crate::setting::Setting as _;
use crate::statement::{Section, Statement};
use crate::syncrepl::SyncreplSetting;
use crate::{Note, Sourced};

settings! {
    /// Settings of a database's names, its root and its replication.
    Content / ContentLayer {
        /// Serve the database as part of the one above it: `no`, `yes` or `advertise`. With
        /// `advertise`, the root DSE still names it. Its suffix must be below that of the other
        /// database.
        "subordinate" subordinate: Subordinate = Subordinate::No
            => slapd("subordinate", "olcSubordinate", "[advertise]").taking(0, Some(1)).take(subordinate)
                .write(written_subordinate);
        /// Name of the identity that no access rule and no limit binds.
        "root.dn" root_dn: Option<String> = None
            => slapd("rootdn", "olcRootDN", "<dn>").taking(0, Some(1)).whole().read(text_unless_empty)
                .flag(Flag::value("--root-dn", "DN")).variable("ADMIN_DN").installed(&["\"cn=admin,dc=example,dc=com\""]);
        /// Its password, in clear or as a hash. `fulgurite passwd` makes a hash.
        "root.password" root_password: Option<Secret> = None
            => slapd("rootpw", "olcRootPW", "<password>").whole().take(root_password).rank(1)
                .write(written_password)
                .variable("ADMIN_PASSWORD")
                .examples(&["\"{ARGON2}$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$4b3yh7eJ0oLUqA1M1xhvOQyRWdLTuqPX1ZtBcmyyFjU\""]);
        /// File that contains the root's password, in clear or as a hash. A line end after it does
        /// not count.
        "root.password_file" root_password_file: Option<PathBuf> = None
            => own().flag(Flag::value("--root-password-file", "FILE")).variable("ADMIN_PASSWORD_FILE")
                .installed(&["\"/etc/fulgurite/root-password\""]);
        /// Keep the database out of sight: the server does not list its suffix. Searches of the
        /// database above do not enter it.
        "hidden" hidden: bool = false
            => slapd("hidden", "olcHidden", "<on|off>").write(written_if_true);
        /// Show the database below `cn=Databases,cn=Monitor`.
        "monitoring" monitoring: bool = true => slapd("monitoring", "olcMonitoring", "<TRUE|FALSE>");
        /// Several servers take updates of the database, and each copies those of the others.
        "multi_provider" multi_provider: bool = false
            => slapd("multiprovider", "olcMultiProvider", "<on|off>").take(multi_provider).rank(2)
                .write(written_if_true);
        /// Name of the identity that a provider's updates come from. Nobody else may update the
        /// database.
        "update_dn" update_dn: Option<String> = None
            => slapd("updatedn", "olcUpdateDN", "<dn>").taking(0, Some(1)).whole().read_in(update_dn)
                .examples(&["\"cn=replicator,dc=example,dc=com\""]);
        /// Keep the state of replication in an entry below the suffix. Replication is not built
        /// yet.
        "sync_use_subentry" sync_use_subentry: bool = false
            => slapd("sync_use_subentry", "olcSyncUseSubentry", "<on|off>").taking(0, Some(1));
    } {
        /// Name of the entry at the top of the data.
        "suffix" suffixes: String
            => slapd("suffix", "olcSuffix", "<suffix>").taking(0, Some(1)).whole().take(suffix)
                .flag(Flag::value("--suffix", "DN").of(FlagGroup::Suffix)).fixed().installed(&["\"dc=example,dc=com\""]);
        /// URLs that clients are sent to with their updates of a copy.
        "update_ref" update_refs: String
            => slapd("updateref", "olcUpdateRef", "<url>").take(update_ref).rank(2)
                .examples(&["[\"ldap://provider.example.com\"]"]);
        /// Providers that the database is copied from, as after the word `syncrepl` of slapd.conf.
        "syncrepl" syncrepl: SyncreplSetting
            => slapd("syncrepl", "olcSyncrepl", "<searchbase>").taking(0, None).numbered().take(syncrepl).rank(1)
                .examples(&["[\"rid=1 provider=ldap://provider.example.com searchbase=\\\"dc=example,dc=com\\\"\"]"]);
    }
}

impl Content {
    /// Directives that have no setting: second names.
    pub(crate) const DIRECTIVES: &'static [super::Row<ContentLayer, Content>] =
        &[super::Row::bare(
            super::Directive::new("mirrormode", "", "<on|off>"),
            multi_provider,
        )];
}

fn written_password(password: &Option<Secret>) -> Vec<String> {
    password.iter().map(|secret| secret.0.clone()).collect()
}

fn text_unless_empty(statement: &Statement) -> Result<Option<String>, String> {
    Ok(Some(statement.first().to_owned()).filter(|text| !text.is_empty()))
}

fn written_if_true(truth: &bool) -> Vec<String> {
    if *truth { truth.olc() } else { Vec::new() }
}

fn suffix(
    layer: &mut ContentLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let name = statement.first();
    if let Some(database) = statement.section.without_suffix() {
        return Err(format!(
            "suffix <{name}> not allowed in {database} database."
        ));
    }
    if !layer.suffixes.is_empty() {
        return Err("<suffix> Only one suffix is allowed on this mdb backend".to_owned());
    }
    let name = Sourced::new(name.to_owned(), statement.origin.clone());
    layer.suffixes.push(name);
    Ok(())
}

fn root_password(
    layer: &mut ContentLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let root = layer.root_dn.as_ref();
    let root = root.and_then(|root| root.value.as_deref());
    let within = match (statement.section, root) {
        (Section::Config, root) => is_within(root.unwrap_or("cn=config"), "cn=config"),
        (Section::Monitor, Some(root)) => is_within(root, "cn=monitor"),
        (Section::Store, Some(root)) => {
            let mut suffixes = layer.suffixes.iter();
            suffixes.any(|suffix| is_within(root, suffix))
        }
        _ => false,
    };
    if !within {
        let typed = &statement.keyword;
        return Err(format!(
            "<{typed}> can only be set when rootdn is under suffix"
        ));
    }
    let password = Some(Secret(statement.first().to_owned()));
    layer.root_password = Some(Sourced::new(password, statement.origin.clone()));
    Ok(())
}

fn subordinate(
    layer: &mut ContentLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let value = match statement.first().to_ascii_lowercase().as_str() {
        "" | "true" => Subordinate::Glued,
        "false" => Subordinate::No,
        "advertise" => Subordinate::Advertised,
        _ => {
            let suffix = layer.suffixes.first();
            let suffix = suffix.map_or("", |suffix| suffix.as_str());
            return Err(format!(
                "suffix \"{suffix}\": subordinate must be \"TRUE\" or \"advertise\"."
            ));
        }
    };
    if statement.section.is_frontend() && value != Subordinate::No {
        return Err("glue: no superior found for sub !".to_owned());
    }
    layer.subordinate = Some(Sourced::new(value, statement.origin.clone()));
    Ok(())
}

fn written_subordinate(subordinate: &Subordinate) -> Vec<String> {
    match subordinate {
        Subordinate::No => Vec::new(),
        Subordinate::Glued => vec!["TRUE".to_owned()],
        Subordinate::Advertised => vec!["advertise".to_owned()],
    }
}

fn update_dn(layer: &ContentLayer, statement: &Statement) -> Result<Option<String>, String> {
    if statement.section.is_frontend() {
        return Err("frontend database cannot be shadow.".to_owned());
    }
    if !layer.syncrepl.is_empty() {
        return Err("<updatedn> database already shadowed".to_owned());
    }
    text_unless_empty(statement)
}

fn syncrepl(
    layer: &mut ContentLayer,
    statement: &Statement,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    if statement.section.is_frontend() {
        return Err(format!(
            "keyword <{}> only allowed within database declaration",
            statement.keyword
        ));
    }
    let root = layer.root_dn.as_ref();
    // The configuration has a default root.
    let has_default = statement.section == Section::Config;
    if !has_default && root.is_none_or(|root| root.value.is_none()) {
        return Err("rootDN must be defined before syncrepl may be used".to_owned());
    }
    let setting = SyncreplSetting::read_statement(statement)?;
    let settings = &setting.settings;
    let (rid, base) = (settings.rid, settings.local_base());
    if settings.retry.is_none() {
        let text = "no retry defined, using default";
        let text = format!("syncrepl rid={rid:03} searchbase=\"{base}\": {text}");
        notes.push(Note::new(&statement.origin, text));
    }
    let mut others = layer.syncrepl.iter();
    if others.any(|other| other.value.settings.rid == rid) {
        return Err(format!("syncrepl: two providers have rid={rid:03}"));
    }
    layer
        .syncrepl
        .push(Sourced::new(setting, statement.origin.clone()));
    Ok(())
}

impl ContentLayer {
    /// Returns true if the database is a copy of another server's.
    fn is_shadow(&self) -> bool {
        !self.syncrepl.is_empty() || self.update_dn.is_some()
    }
}

fn update_ref(
    layer: &mut ContentLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    // A change of cn=config is looked at when it is made: the last provider may go.
    if !layer.is_shadow() && !statement.keyword.starts_with("olc") {
        return Err("<updateref> must appear after syncrepl or updatedn".to_owned());
    }
    let url = statement.first();
    let after_host = url
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'));
    if after_host.is_some_and(|(_, path)| !path.is_empty()) {
        return Err(format!("<{}> invalid URL ({url})", statement.keyword));
    }
    let url = Sourced::new(url.to_owned(), statement.origin.clone());
    layer.update_refs.push(url);
    Ok(())
}

fn multi_provider(
    layer: &mut ContentLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let truth = statement.truth()?;
    if truth && !layer.is_shadow() && !statement.keyword.starts_with("olc") {
        let typed = &statement.keyword;
        return Err(format!("<{typed}> database is not a shadow"));
    }
    layer.multi_provider = Some(Sourced::new(truth, statement.origin.clone()));
    Ok(())
}
