//! Whole environments, read by either library from either file, and the check of our own.

use std::path::Path;

use fulgurite::check::{Fault, check_file};

use crate::api::{Api, Arg, EnvOpen, Handle};
use crate::compare::{Difference, Field, Outcome};
use crate::constants::*;
use crate::profile::{MAP_BYTES, RECORD_BYTES};
use crate::run::{Runner, environment_path};

/// Named databases that a dump can open.
const DATABASES: u32 = 16;

/// Each library reads both files: four equal dumps. Then the check of our own reads both.
pub(crate) fn compare_files(runner: &mut Runner<'_>) -> Result<(), Difference> {
    let flags = RDONLY | runner.env_flags() & NOSUBDIR;
    let dirs = [runner.sides[0].dir.clone(), runner.sides[1].dir.clone()];
    let mut own = None;
    for crossed in [false, true] {
        let dirs = dirs.clone();
        let what = if crossed {
            "each the other's file"
        } else {
            "each its own file"
        };
        let reference = runner.sides[0].dir.clone();
        let dumped = runner.both("dump", what, |s| {
            let dir = &dirs[usize::from((s.dir == reference) == crossed)];
            dump(s.api, dir, flags)
        })?;
        if let Some(own) = own.replace(dumped.clone())
            && let Some(difference) = Difference::between("dump", "own and other's", &own, &dumped)
        {
            return Err(difference);
        }
    }
    // The check knows the built-in orders only. Keys in another one it reports and goes on.
    let databases = &runner.profile.databases;
    let own_orders = databases.iter().any(|db| db.key_order.is_some());
    if databases.iter().any(|db| db.value_order.is_some()) {
        return Ok(());
    }
    runner.note_only("fulgurite::check", "both files");
    for (whose, dir) in ["the reference's", "our"].iter().zip(&dirs) {
        if let Err(complaint) = check(&dir.join("data.mdb"), own_orders) {
            return Err(Difference {
                call: format!("fulgurite::check of {whose} file"),
                signature: format!("check of {whose} file: {}", kind_of(&complaint)),
                reference: "sound".to_owned(),
                ours: complaint,
            });
        }
    }
    Ok(())
}

/// Every database of an environment, one item of the outcome for each fact and each record.
fn dump(api: &Api, dir: &Path, flags: u32) -> Outcome {
    let path = environment_path(dir, flags);
    let open = EnvOpen {
        path: &path,
        flags,
        map_bytes: MAP_BYTES,
        databases: DATABASES,
        readers: 126,
    };
    let (outcome, env) = api.env_open(&open);
    if outcome.code != 0 {
        return outcome;
    }
    let mut items = Vec::new();
    let (begun, txn) = api.txn_begin(env, Handle::NULL, RDONLY);
    let code = match begun.code {
        0 => dump_all(api, txn, &mut items),
        code => code,
    };
    api.txn_abort(txn);
    api.env_close(env);
    Outcome::of(code).with("items", Field::Items(items))
}

type Items = Vec<(Vec<u8>, Vec<u8>)>;

fn dump_all(api: &Api, txn: Handle, items: &mut Items) -> i32 {
    let main = api.dbi_open(txn, None, 0);
    if main.code != 0 {
        return main.code;
    }
    let mut names = Vec::new();
    let from = items.len();
    let code = dump_one(api, txn, 1, items);
    for (key, value) in &mut items[from..] {
        if value.len() == RECORD_BYTES as usize && !key.contains(&0) {
            names.push(key.clone());
            *value = b"record".to_vec();
        }
    }
    if code != NOTFOUND {
        return code;
    }
    for name in names {
        let outcome = api.dbi_open(txn, Some(&name), 0);
        items.push((name, outcome.code.to_string().into_bytes()));
        if let Some(dbi) = outcome.value("dbi") {
            let code = dump_one(api, txn, dbi as u32, items);
            if code != NOTFOUND {
                return code;
            }
        }
    }
    0
}

/// The flags, the number of entries, then the entries; the code that ended it.
fn dump_one(api: &Api, txn: Handle, dbi: u32, items: &mut Items) -> i32 {
    for fact in [api.dbi_flags(txn, dbi), api.stat(txn, dbi)] {
        items.push((b"fact".to_vec(), fact.to_string().into_bytes()));
    }
    let (outcome, cursor) = api.cursor_open(txn, dbi);
    if outcome.code != 0 {
        return outcome.code;
    }
    let code = loop {
        let outcome = api.cursor_get(cursor, Arg::Room, Arg::Room, NEXT);
        if outcome.code != 0 {
            break outcome.code;
        }
        let part = |name| outcome.bytes(name).unwrap_or_default().to_vec();
        items.push((part("key"), part("data")));
    };
    api.cursor_close(cursor);
    code
}

fn check(file: &Path, own_orders: bool) -> Result<(), String> {
    let report = check_file(file).map_err(|e| e.to_string())?;
    let mut findings = report.findings.iter().filter(|finding| {
        !(own_orders
            && matches!(
                finding.fault,
                Fault::OutOfOrder { .. } | Fault::OutsideSeparators { .. }
            ))
    });
    match findings.next() {
        Some(finding) => Err(finding.to_string()),
        None => Ok(()),
    }
}

/// A finding without its numbers.
fn kind_of(complaint: &str) -> String {
    let fault = complaint
        .split_once(": ")
        .map_or(complaint, |(_, fault)| fault);
    fault.chars().filter(|c| !c.is_ascii_digit()).collect()
}
