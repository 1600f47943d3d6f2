//! Reloads the configuration, and refuses changes of settings that are fixed at the start.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fulgurite_config::{ConfigError, Settings, Shown, is_fixed};
use fulgurite_directory::Directory;

use super::open;
use crate::statistics::{Statistics, lock};

/// Reads the settings and makes the directory that replaces the current one.
pub(super) fn renew(
    current: &Directory,
    settings: &Mutex<Settings>,
    read: &dyn Fn() -> Result<Settings, ConfigError>,
    statistics: &Arc<Statistics>,
) -> Result<Directory, String> {
    let mut settings = lock(settings);
    let wanted = read().map_err(|error| error.to_string())?;
    let fixed = fixed_differences(&settings, &wanted);
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
    let opened = open::open(&wanted, &stores, Some(statistics));
    let (next, _) = opened.map_err(|error| error.to_string())?;
    open::request_indexes(&wanted, &next).map_err(|error| error.to_string())?;
    *settings = wanted;
    Ok(next)
}

/// Lists the fixed settings that differ. Each has its key, the new value and its origin, and the
/// current value.
pub(super) fn fixed_differences(held: &Settings, wanted: &Settings) -> Vec<String> {
    let (held, wanted) = (fixed(held), fixed(wanted));
    let mut differences = Vec::new();
    for (place, new) in &wanted {
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

/// Returns the fixed settings; lists have several lines.
fn fixed(settings: &Settings) -> BTreeMap<SettingKey, Vec<Shown>> {
    let mut fixed: BTreeMap<SettingKey, Vec<Shown>> = BTreeMap::new();
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
            fixed_differences(&held, &settings("threads 8\nidletimeout 7")),
            [
                "limits.idle (\"7\" instead of \"unlimited\", a.conf, line 2)",
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
        assert!(
            differences
                .iter()
                .any(|text| text.starts_with("data of database 2 (mdb)")),
            "{differences:?}"
        );
    }
}
