//! A store at a glance: it opens, its map has room, its indexes are those of the settings.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use fulgurite_client::health;
use fulgurite_config::{Database, Settings};
use fulgurite_server::{schema, store_options};
use fulgurite_store::{Store, StoreOptions};

use super::finding::{Findings, Severity};

const CHECK: &str = "store";

/// Percent of the map in use: a warning above the first, a failure above the second.
const MAP_PERCENT: [u64; 2] = [80, 95];

pub(super) fn check(
    settings: &Settings,
    database: &Database,
    directory: &Path,
    findings: &mut Findings,
) {
    let shown = directory.display();
    if !Store::exists(directory) {
        let text = format!("none exists in {shown} yet");
        return findings.add(CHECK, Severity::Note, text, "the first start makes it");
    }
    let store = match open(settings, database, directory) {
        Ok(store) => store,
        Err(error) => {
            let text = format!("{shown} cannot be opened: {error:#}");
            return findings.add(
                CHECK,
                Severity::Failure,
                text,
                "ask as root or as its owner",
            );
        }
    };
    let entries = store.snapshot().and_then(|view| view.entry_count());
    match entries {
        Ok(1) => findings.ok(CHECK, format!("{shown} has 1 entry")),
        Ok(entries) => findings.ok(CHECK, format!("{shown} has {entries} entries")),
        Err(error) => {
            let remedy = format!("fulgurite check {shown}");
            findings.add(CHECK, Severity::Failure, error.to_string(), remedy);
        }
    }
    check_map(&store, *database.storage.map_bytes_max, findings);
    check_indexes(&store, database, findings);
}

fn open(settings: &Settings, database: &Database, directory: &Path) -> anyhow::Result<Store> {
    let options = StoreOptions {
        read_only: true,
        // A lock file of this command's user would shut out the server.
        no_lock: !directory.join("lock.mdb").exists(),
        indexes: None,
        ..store_options(database)?
    };
    Ok(Store::open(
        directory,
        &options,
        Arc::new(schema(settings)?),
    )?)
}

fn check_map(store: &Store, bytes_max: u64, findings: &mut Findings) {
    let Ok(info) = store.environment().info() else {
        return;
    };
    let used = (info.last_page + 1) * info.page_size as u64;
    let percent = used * 100 / bytes_max.max(1);
    let share = health::share(percent);
    let text = format!("the data file uses {share} of storage.map_bytes_max");
    let remedy = "raise storage.map_bytes_max, or compact with fulgurite env compact";
    match MAP_PERCENT {
        [_, most] if percent > most => findings.add("map", Severity::Failure, text, remedy),
        [most, _] if percent > most => findings.add("map", Severity::Warning, text, remedy),
        _ => findings.ok("map", text),
    }
}

/// Compares the indexes of the store with those of the settings.
fn check_indexes(store: &Store, database: &Database, findings: &mut Findings) {
    const CHECK: &str = "indexes";
    let Ok(status) = store.index_status() else {
        return;
    };
    if let Some(work) = status.work.first() {
        let kind = work.kind.word();
        let text = format!("{}:{kind} is not complete", work.attribute);
        let remedy = "the server works on it; fulgurite index --status shows how far";
        return findings.add(CHECK, Severity::Note, text, remedy);
    }
    let complete = status.complete.iter().map(ToString::to_string);
    let complete: BTreeSet<String> = complete.flat_map(|text| kinds_of(&text)).collect();
    let wanted = store_options(database)
        .ok()
        .and_then(|options| options.indexes);
    let wanted = wanted.unwrap_or_default().into_iter();
    let wanted = wanted.flat_map(|spec| kinds_of(&spec.to_string()));
    let missing: Vec<String> = wanted.filter(|kind| !complete.contains(kind)).collect();
    if missing.is_empty() {
        findings.ok(CHECK, format!("all {} are complete", complete.len()));
    } else {
        let text = format!("the store lacks {}", missing.join(" "));
        let remedy = "the next start builds them; fulgurite index --add does now";
        findings.add(CHECK, Severity::Warning, text, remedy);
    }
}

/// Divides `mail:eq,sub` into `mail:eq` and `mail:sub`, in lower case.
fn kinds_of(text: &str) -> Vec<String> {
    let text = text.to_ascii_lowercase();
    match text.split_once(':') {
        Some((attribute, kinds)) => {
            let kinds = kinds.split(',').map(|kind| format!("{attribute}:{kind}"));
            kinds.collect()
        }
        None => vec![text],
    }
}
