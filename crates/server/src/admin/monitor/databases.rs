//! Databases, their backends and overlays.

use fulgurite_directory::{CONTROLS, ControlRow, TreeEntry};
use fulgurite_ldap::oid;
use fulgurite_store::{IndexStage, Store};

use super::figures::{Monitor, MonitoredDatabase, MonitoredKind, SUFFIX};
use crate::admin::clock::ahead_s;
use crate::statistics::seconds_now;

const ABOVE: &str = "cn=Databases,cn=Monitor";
const BACKENDS: &str = "cn=Backends,cn=Monitor";

/// The kinds of databases, in the order of their numbers.
const KINDS: [&str; 4] = ["config", "ldif", "monitor", "mdb"];

impl Monitor {
    pub(super) fn backends(&self, out: &mut Vec<TreeEntry>) {
        if let Some(branch) = out.last_mut() {
            *branch = std::mem::take(branch).with("monitoredInfo", KINDS);
        }
        for (number, kind) in KINDS.into_iter().enumerate() {
            let name = format!("Backend {number}");
            let is_mdb = kind == "mdb";
            let controls = CONTROLS.iter().filter(|row| match is_mdb {
                true => row.is_of_backend(),
                false => row.oid() == oid::MANAGE_DSA_IT,
            });
            let of_kind = self
                .shown()
                .filter(|(_, database)| database.kind.name() == kind);
            let databases = of_kind.map(|(number, _)| format!("cn=Database {number},{ABOVE}"));
            out.push(
                self.entry("monitoredObject", &name, BACKENDS)
                    .with("monitoredInfo", [kind])
                    .with("monitorRuntimeConfig", ["TRUE"])
                    .with("supportedControl", controls.map(ControlRow::oid))
                    .with("seeAlso", databases),
            );
        }
    }

    pub(super) fn databases(&self, out: &mut Vec<TreeEntry>) {
        if let Some(branch) = out.last_mut() {
            let stored = self
                .shown()
                .filter(|(_, d)| !matches!(d.kind, MonitoredKind::Monitor));
            let suffixes = stored.flat_map(|(_, database)| database.suffixes.iter().cloned());
            // The frontend has the empty name.
            let suffixes = [String::new()].into_iter().chain(suffixes);
            let monitor = self
                .shown()
                .find(|(_, d)| matches!(d.kind, MonitoredKind::Monitor));
            *branch = std::mem::take(branch)
                .with("readOnly", ["FALSE"])
                .with("namingContexts", suffixes)
                .with("monitorContext", monitor.map(|_| SUFFIX));
        }
        out.push(
            self.entry("monitoredObject", "Frontend", ABOVE)
                .with("monitoredInfo", ["frontend"])
                .with("monitorIsShadow", ["FALSE"])
                .with("namingContexts", [""])
                .with("readOnly", ["FALSE"]),
        );
        for (number, database) in self.shown() {
            self.database(number, database, out);
        }
    }

    /// Returns the visible databases with their numbers.
    fn shown(&self) -> impl Iterator<Item = (usize, &MonitoredDatabase)> {
        let numbered = self.databases.iter().enumerate();
        numbered.filter(|(_, database)| database.shown)
    }

    /// Returns the suffix of the database that this one is glued to.
    fn superior_of(&self, database: &MonitoredDatabase) -> Option<String> {
        let own = database.suffixes.first().filter(|_| database.glued)?;
        let all = self.databases.iter().flat_map(|other| &other.suffixes);
        all.filter(|suffix| is_above(suffix, own))
            .max_by_key(|suffix| suffix.len())
            .cloned()
    }

    /// Returns true if other databases are glued to this one.
    fn has_glued(&self, database: &MonitoredDatabase) -> bool {
        self.databases.iter().any(|other| {
            let superior = self.superior_of(other);
            superior.is_some_and(|superior| database.suffixes.contains(&superior))
        })
    }

    fn database(&self, number: usize, database: &MonitoredDatabase, out: &mut Vec<TreeEntry>) {
        let kind = database.kind.name();
        let backend = KINDS
            .iter()
            .position(|name| *name == kind)
            .unwrap_or_default();
        let truth = |yes: bool| if yes { "TRUE" } else { "FALSE" };
        let name = format!("Database {number}");
        let suffixes = database.suffixes.iter().cloned();
        let context = match database.kind {
            MonitoredKind::Monitor => "monitorContext",
            MonitoredKind::Store(_) | MonitoredKind::Config => "namingContexts",
        };
        let glue = self.has_glued(database);
        let superior = self.superior_of(database);
        let overlay = format!("cn=Overlay 0,cn=Overlays,{}", SUFFIX);
        let see = glue.then(|| overlay.clone()).into_iter();
        let facts = match &database.kind {
            MonitoredKind::Store(store) => store_facts(store),
            MonitoredKind::Monitor | MonitoredKind::Config => Vec::new(),
        };
        let mut entry = self
            .entry("monitoredObject", &name, ABOVE)
            .with("monitoredInfo", [kind.to_owned()].into_iter().chain(facts))
            .with("monitorIsShadow", [truth(database.shadow)])
            .with("monitorUpdateRef", database.update_refs.iter().cloned())
            .with(context, suffixes.clone())
            .with("monitorSuperiorDN", superior)
            .with("readOnly", [truth(database.read_only)])
            .with("monitorOverlay", glue.then_some("glue"))
            .with(
                "seeAlso",
                see.chain([format!("cn=Backend {backend},{BACKENDS}")]),
            );
        if let MonitoredKind::Store(store) = &database.kind {
            for (name, values) in &mut entry.attributes {
                if name == "objectClass" {
                    values.push(b"olmMDBDatabase".to_vec());
                }
            }
            entry = with_store_figures(entry, store);
        }
        let dn = entry.dn.clone();
        out.push(entry);
        if let MonitoredKind::Store(store) = &database.kind {
            self.consumers(store, &dn, out);
            self.copies(store, &dn, out);
        }
        if glue {
            out.push(
                self.entry("monitoredObject", "Overlay 0", &dn)
                    .with("monitoredInfo", ["glue"])
                    .with("seeAlso", [overlay])
                    .with("namingContexts", suffixes),
            );
        }
    }

    pub(super) fn overlays(&self, out: &mut Vec<TreeEntry>) {
        if let Some(branch) = out.last_mut() {
            *branch = std::mem::take(branch).with("monitoredInfo", ["glue"]);
        }
        let glued = self
            .shown()
            .filter(|(_, database)| self.has_glued(database));
        let see = glued.map(|(number, _)| format!("cn=Database {number},{ABOVE}"));
        out.push(
            self.entry("monitoredObject", "Overlay 0", "cn=Overlays,cn=Monitor")
                .with("monitoredInfo", ["glue"])
                .with("monitorRuntimeConfig", ["FALSE"])
                .with("seeAlso", see),
        );
    }
}

/// Returns true if `suffix` is above `other`, both as configured.
fn is_above(suffix: &str, other: &str) -> bool {
    let compact = |text: &str| text.to_ascii_lowercase().replace(", ", ",");
    let (suffix, other) = (compact(suffix), compact(other));
    other
        .strip_suffix(&suffix)
        .is_some_and(|below| below.ends_with(','))
}

/// Returns figures for which slapd has no attribute.
fn store_facts(store: &Store) -> Vec<String> {
    let readers = store.environment().readers().unwrap_or_default();
    let active = || readers.iter().filter(|reader| reader.snapshot.is_some());
    let transactions = active().map(|reader| reader.lag).max().unwrap_or(0);
    let age = active().filter_map(|reader| reader.age).max();
    let seconds = age.unwrap_or_default().as_secs();
    let counts = store.commit_counts();
    let mut facts = vec![
        format!("oldest reader: {transactions} transactions, {seconds} seconds"),
        format!("commits: {}", counts.commits),
        format!(
            "refused updates: {}",
            counts.refused_map + counts.refused_disk
        ),
    ];
    if let Ok(disk) = rustix::fs::fstatvfs(store.environment().fd()) {
        // As df(1) computes them: what is kept for root is not free.
        let used = disk.f_blocks.saturating_sub(disk.f_bfree);
        let (free, size) = (disk.f_bavail, used + disk.f_bavail);
        let bytes = |blocks| blocks * disk.f_frsize;
        facts.push(format!(
            "disk: {} bytes free of {}",
            bytes(free),
            bytes(size)
        ));
    }
    if let Some(seconds) = ahead_s(store, seconds_now()) {
        facts.push(format!("change ahead of the clock: {seconds} seconds"));
    }
    facts.extend(index_facts(store));
    facts
}

/// Returns the indexes that are complete, and the progress of the others.
fn index_facts(store: &Store) -> Vec<String> {
    let Ok(status) = store.index_status() else {
        return Vec::new();
    };
    let complete = status.complete.iter();
    let complete = complete.map(|index| format!("index: {index}"));
    let work = status.work.iter().map(|work| {
        let (attribute, kind) = (&work.attribute, work.kind.word());
        match work.stage {
            IndexStage::Drop => format!("index work: {attribute}:{kind}, dropping"),
            IndexStage::Clear | IndexStage::Fill => {
                let percent = work.percent(status.last_id);
                format!("index work: {attribute}:{kind}, {percent} %")
            }
        }
    });
    complete.chain(work).collect()
}

/// Adds the figures of the engine. Only the count of free pages reads pages: those of the free
/// list.
fn with_store_figures(mut entry: TreeEntry, store: &Store) -> TreeEntry {
    let environment = store.environment();
    if let Ok(info) = environment.info() {
        let pages_max = info.map_bytes_max / (info.page_size as u64).max(1);
        let free = environment.read().and_then(|txn| txn.free_pages());
        let free = free.map_or(0, |pages| pages.total());
        for (name, count) in [
            ("olmMDBPagesMax", pages_max),
            ("olmMDBPagesUsed", info.last_page + 1),
            ("olmMDBPagesFree", free),
            ("olmMDBReadersMax", info.readers_max.into()),
            ("olmMDBReadersUsed", info.readers_used.into()),
        ] {
            entry = entry.with(name, [count.to_string()]);
        }
    }
    let entries = store.snapshot().and_then(|view| view.entry_count());
    let folder = store.path().display().to_string();
    entry
        .with("olmMDBEntries", entries.ok().map(|count| count.to_string()))
        .with(
            "olmDbDirectory",
            [format!("{}/", folder.trim_end_matches('/'))],
        )
}
