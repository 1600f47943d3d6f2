//! Reloads the configuration, and refuses changes of settings that are fixed at the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use fulgurite_config::{Settings, Shown, is_fixed};
use fulgurite_directory::Directory;
use fulgurite_schema::Schema;

use super::open;
use crate::statistics::Statistics;

/// Makes the directory that replaces the current one.
pub(super) fn renew(
    current: &Directory,
    held: &Settings,
    wanted: &Settings,
    (schema, statistics): (Arc<Schema>, &Arc<Statistics>),
) -> Result<Directory, String> {
    let fixed = fixed_differences(held, wanted);
    if !fixed.is_empty() {
        return Err(format!(
            "{} cannot change while the server runs: stop it and start it again",
            fixed.join(" and ")
        ));
    }
    let stores = open::StorePlan {
        make: false,
        make_folders: false,
        existing: Some(current),
    };
    let opened = open::open_with(wanted, schema, &stores, Some(statistics));
    let (next, _) = opened.map_err(|error| error.to_string())?;
    open::apply_to_stores(wanted, &next).map_err(|error| error.to_string())?;
    Ok(next)
}

/// Lists the fixed settings that differ. Each has its key, the new value and its origin, and the
/// current value.
pub(super) fn fixed_differences(held: &Settings, wanted: &Settings) -> Vec<String> {
    differences(&fixed(held), &fixed(wanted))
}

/// Lists the fixed settings that differ, without those of databases that come or go. Databases are
/// the same if they have the same folder, whatever their numbers. A new suffix is in force.
pub(super) fn kept_differences(held: &Settings, wanted: &Settings) -> Vec<String> {
    let (old_folders, new_folders) = (folders(held), folders(wanted));
    let kept = |settings, own: &BTreeMap<String, String>, others: &BTreeMap<String, String>| {
        let is_kept = |folder: &String| others.values().any(|other| other == folder);
        let lines = fixed(settings).into_iter();
        let lines = lines.filter_map(|((group, key), lines)| {
            if !group.starts_with("database ") {
                return Some(((group, key), lines));
            }
            let folder = own.get(&group).filter(|folder| is_kept(folder))?;
            if key == "suffix" {
                return None;
            }
            Some(((format!("the database in {folder}"), key), lines))
        });
        lines.collect::<FixedSettings>()
    };
    let old = kept(held, &old_folders, &new_folders);
    let new = kept(wanted, &new_folders, &old_folders);
    differences(&old, &new)
}

/// Returns the folders of the databases by their groups.
fn folders(settings: &Settings) -> BTreeMap<String, String> {
    let databases = settings.databases.iter().enumerate();
    let folders = databases.filter_map(|(at, database)| {
        let group = format!("database {} ({})", at + 1, database.kind.as_str());
        Some((group, database.directory().ok()?.display().to_string()))
    });
    folders.collect()
}

fn differences(held: &FixedSettings, wanted: &FixedSettings) -> Vec<String> {
    let mut differences = Vec::new();
    for (place, new) in wanted {
        match held.get(place) {
            Some(old) if texts(old) == texts(new) => {}
            old => {
                let old = old.map_or_else(String::new, |old| texts(old).join(" "));
                differences.push(difference(place, &texts(new).join(" "), new, &old));
            }
        }
    }
    let gone = held.iter().filter(|(place, _)| !wanted.contains_key(place));
    differences.extend(gone.map(|(place, old)| difference(place, "", old, &texts(old).join(" "))));
    differences
}

/// A setting: the section it belongs to, and its key.
type SettingKey = (String, &'static str);

/// Fixed settings; lists have several lines.
type FixedSettings = BTreeMap<SettingKey, Vec<Shown>>;

fn fixed(settings: &Settings) -> FixedSettings {
    let mut fixed = FixedSettings::new();
    for line in settings.shown() {
        if is_fixed(line.key) {
            let place = (line.group.clone(), line.key);
            fixed.entry(place).or_default().push(line);
        }
    }
    fixed
}

fn texts(lines: &[Shown]) -> Vec<&str> {
    lines.iter().map(|line| line.value.as_str()).collect()
}

fn difference((group, key): &SettingKey, new: &str, said: &[Shown], old: &str) -> String {
    let of = if group.is_empty() {
        String::new()
    } else {
        format!(" of {group}")
    };
    let origin = said.first().map(|line| line.origin.to_string());
    format!(
        "{key}{of} (\"{new}\" instead of \"{old}\", {})",
        origin.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use fulgurite_config::Layer;

    use super::*;

    fn settings(more: &str) -> Settings {
        let text = format!("{more}\ndatabase mdb\nsuffix dc=x\ndirectory /x\nrootdn cn=r,dc=x\n");
        let layer = Layer::from_slapd_conf_text(&text, "a.conf".as_ref());
        Settings::new(layer.unwrap()).unwrap()
    }

    #[test]
    fn changed_fixed_settings_are_named_with_their_origin() {
        let held = settings("sizelimit 5\nthreads 4");
        assert!(fixed_differences(&held, &settings("threads 4\nallow bind_v2")).is_empty());
        assert_eq!(
            fixed_differences(&held, &settings("threads 8\nidletimeout 7\npidfile /run/x")),
            [
                "pid_file (\"/run/x\" instead of \"\", a.conf, line 3)",
                "threads (\"8\" instead of \"4\", a.conf, line 1)"
            ]
        );
        let other = "threads 4\ndatabase mdb\nsuffix dc=y\ndirectory /y";
        let differences = fixed_differences(&held, &settings(other));
        assert!(
            differences.contains(
                &"suffix of database 1 (mdb) (\"dc=y\" instead of \"dc=x\", a.conf, line 3)"
                    .to_owned()
            ),
            "{differences:?}"
        );
        // A database before the other one changes the numbers, and no setting.
        let with_two = |more: &str| {
            let text = format!(
                "{more}\ndatabase mdb\nsuffix dc=y\ndirectory /y\ndatabase mdb\nsuffix dc=x\n\
                 directory /x\nrootdn cn=r,dc=x\nmaxreaders 8192000\n"
            );
            let layer = Layer::from_slapd_conf_text(&text, "a.conf".as_ref());
            Settings::new(layer.unwrap()).unwrap()
        };
        let kept = kept_differences(&held, &with_two("threads 4"));
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert!(kept[0].contains("of the database in /x"), "{kept:?}");
        let (two, same) = (with_two("threads 4"), settings("threads 4"));
        let kept = kept_differences(&two, &same);
        assert!(
            kept.iter()
                .all(|text| text.contains("of the database in /x")),
            "{kept:?}"
        );
        assert!(
            differences
                .iter()
                .any(|text| text.starts_with("data of database 2 (mdb)")),
            "{differences:?}"
        );
    }
}
