//! The settings, the schema, the backup and the time that flags name.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use fulgurite_config::Settings;
use fulgurite_directory::Timestamp;
use fulgurite_schema::{Schema, days_from_civil};
use fulgurite_server::{Backup, SavedDatabase, list_backups, schema};

use crate::arguments::tools::ConfigFlags;
use crate::commands::check_store::all_definitions;
use crate::commands::doctor::CONFIG;

/// Returns the settings of the flags, else of an installed server, else of the environment.
pub(super) fn settings(flags: &ConfigFlags) -> anyhow::Result<Settings> {
    if !is_named(flags) && Path::new(CONFIG).exists() {
        let installed = ConfigFlags {
            config: Some(CONFIG.into()),
            slapd_conf: None,
            slapd_dir: None,
        };
        return Ok(installed.settings()?);
    }
    Ok(flags.settings()?)
}

/// Returns the schema of the flags. Without any settings, it has all built-in definitions.
pub(super) fn schema_of(flags: &ConfigFlags) -> anyhow::Result<Arc<Schema>> {
    if !is_named(flags) && !Path::new(CONFIG).exists() {
        return Ok(Arc::new(all_definitions()));
    }
    Ok(Arc::new(schema(&settings(flags)?)?))
}

/// Returns the words for the settings of a server that could not start.
pub(super) fn of_settings(flags: &ConfigFlags) -> &'static str {
    match is_named(flags) || Path::new(CONFIG).exists() {
        true => "no server can use the backup with these settings",
        false => {
            "no server can use the backup without settings: name those of its server by --config"
        }
    }
}

fn is_named(flags: &ConfigFlags) -> bool {
    flags.config.is_some() || flags.slapd_conf.is_some() || flags.slapd_dir.is_some()
}

/// Returns a backup: the folder itself, or the newest in a directory up to a time.
pub(super) fn backup(path: &Path, until: Option<Timestamp>) -> anyhow::Result<Backup> {
    let fits = |backup: &Backup| {
        until.is_none_or(|until| begin(backup) <= until && !has_later(backup, until))
    };
    let alone = Backup::open(path);
    let found = match alone {
        Ok(backup) => Some(backup).filter(fits),
        Err(reason) => {
            let all = list_backups(path)?;
            if all.is_empty() {
                return Err(anyhow!(reason)).context("there is no backup");
            }
            all.into_iter().rfind(fits)
        }
    };
    found.with_context(|| {
        let until = until.map_or_else(String::new, |until| until.generalized());
        format!("{} has no backup from before {until}", path.display())
    })
}

/// Returns true if a backup has a change from after a time. Its databases are copied one after the
/// other, so the last ones may have changes from after its begin.
fn has_later(backup: &Backup, until: Timestamp) -> bool {
    let databases = backup.manifest.databases.iter();
    let mut changes = databases.flat_map(|database| &database.changes);
    // A number begins with its time, of a fixed length.
    let until = until.generalized_us();
    changes.any(|csn| {
        csn.split('#')
            .next()
            .is_some_and(|time| time > until.as_str())
    })
}

/// Returns the time at which a backup began.
pub(super) fn begin(backup: &Backup) -> Timestamp {
    Timestamp(backup.time_s.saturating_mul(1_000_000))
}

/// Returns the database with a suffix; without one, the only database.
pub(super) fn database<'b>(
    backup: &'b Backup,
    suffix: Option<&str>,
) -> anyhow::Result<&'b SavedDatabase> {
    let databases = &backup.manifest.databases;
    let shown = || {
        let suffixes = databases.iter().map(|one| format!("\"{}\"", one.suffix));
        suffixes.collect::<Vec<_>>().join(" and ")
    };
    match (suffix, databases.as_slice()) {
        (Some(suffix), all) => {
            let found = all
                .iter()
                .find(|one| one.suffix.eq_ignore_ascii_case(suffix));
            found.with_context(|| format!("the backup has {}, and no \"{suffix}\"", shown()))
        }
        (None, [only]) => Ok(only),
        (None, _) => bail!("the backup has {}: choose one by --suffix", shown()),
    }
}

/// Reads `2026-11-27T14:30:00Z`, `2026-11-27 14:30` or `20261127143000Z`, all in UTC.
pub(super) fn time(text: &str) -> anyhow::Result<Timestamp> {
    parse_time(text).with_context(|| {
        format!("\"{text}\" is no time in UTC, such as 2026-11-27T14:30:00Z or 20261127143000Z")
    })
}

fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim().trim_end_matches(['Z', 'z']);
    let separates = |letter: char| "-:Tt ".contains(letter);
    if !text
        .chars()
        .all(|letter| letter.is_ascii_digit() || separates(letter))
    {
        return None;
    }
    let mut digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if digits.len() == 12 {
        digits.push_str("00");
    }
    if digits.len() != 14 {
        return None;
    }
    let number = |from: usize, to: usize| digits.get(from..to)?.parse::<i64>().ok();
    let days = days_from_civil(number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let seconds = number(8, 10)? * 3600 + number(10, 12)? * 60 + number(12, 14)?;
    let seconds = u64::try_from(days * 86_400 + seconds).ok()?;
    let time = Timestamp(seconds.checked_mul(1_000_000)?);
    // Not for a 61st minute, or a 30th of February.
    (time.generalized() == format!("{digits}Z")).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_several_forms() {
        let expected = Some(Timestamp(1_795_789_800_000_000));
        for text in [
            "2026-11-27T14:30:00Z",
            "2026-11-27 14:30:00",
            "2026-11-27T14:30Z",
            "20261127143000Z",
        ] {
            assert_eq!(parse_time(text), expected, "{text}");
        }
        for text in [
            "2026-11-27",
            "2026-02-30T00:00:00Z",
            "now",
            "",
            "2026-11-27T24:00:00Z",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
