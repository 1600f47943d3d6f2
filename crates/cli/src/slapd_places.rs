//! The places where packages of OpenLDAP put slapd's configuration.

use std::path::{Path, PathBuf};

use fulgurite_config::{ConfigError, Layer, Settings, Survey};

/// Configuration directories: Debian's, and those of other systems.
const CONFIG_DIRS: [&str; 2] = ["/etc/ldap/slapd.d", "/etc/openldap/slapd.d"];

/// Configuration files, in the same order.
pub(crate) const CONFIG_FILES: [&str; 2] = ["/etc/ldap/slapd.conf", "/etc/openldap/slapd.conf"];

/// Reads a configuration directory or file of slapd.
///
/// # Errors
/// [`ConfigError`] with the line of the fault.
pub(crate) fn layer_at(place: &Path) -> Result<Layer, ConfigError> {
    if place.is_dir() {
        Layer::from_config_dir(place)
    } else {
        Layer::from_slapd_conf(place)
    }
}

/// Does the same, and takes databases of the backends hdb and bdb.
///
/// # Errors
/// As [`layer_at`].
pub(crate) fn old_layer_at(place: &Path) -> Result<Layer, ConfigError> {
    layer_at(place).or_else(|error| match Survey::of(place) {
        Ok(survey) if survey.refusals.is_empty() => Ok(survey.layer),
        _ => Err(error),
    })
}

/// Returns the configuration that slapd would use without a flag: a directory, or else a file.
pub(crate) fn installed() -> Option<&'static Path> {
    places().find(|place| place.exists())
}

fn places() -> impl Iterator<Item = &'static Path> {
    CONFIG_DIRS.iter().chain(&CONFIG_FILES).map(Path::new)
}

/// Returns the installed configuration that has a database in `directory`.
///
/// A configuration that cannot be used is passed to `unusable` with the reason.
pub(crate) fn installed_for(
    directory: &Path,
    unusable: &mut dyn FnMut(&Path, &ConfigError),
) -> Option<PathBuf> {
    with_database(places(), directory, unusable)
}

/// Returns the first of several places with a database in `directory`.
fn with_database<'p>(
    places: impl Iterator<Item = &'p Path>,
    directory: &Path,
    unusable: &mut dyn FnMut(&Path, &ConfigError),
) -> Option<PathBuf> {
    let wanted = directory.canonicalize().ok()?;
    for place in places.filter(|place| place.exists()) {
        match old_layer_at(place).and_then(Settings::new) {
            Ok(settings) => {
                let mut directories = settings.stores().filter_map(|store| store.directory().ok());
                if directories.any(|one| one.canonicalize().is_ok_and(|one| one == wanted)) {
                    return Some(place.to_owned());
                }
            }
            Err(error) => unusable(place, &error),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a configuration file with a database in `directory`.
    fn configuration(file: &Path, directory: &Path) {
        std::fs::create_dir_all(directory).unwrap();
        let directory = directory.display();
        let text = format!("database mdb\nsuffix dc=example\ndirectory {directory}\n");
        std::fs::write(file, text).unwrap();
    }

    #[test]
    fn the_configuration_of_the_directory_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("wrong.conf"), "no such directive\n").unwrap();
        configuration(&at("other.conf"), &at("other"));
        configuration(&at("this.conf"), &at("this"));
        let names = ["missing.conf", "wrong.conf", "other.conf", "this.conf"].map(at);
        let mut unusable = Vec::new();
        let mut search = |directory: &Path| {
            let places = names.iter().map(PathBuf::as_path);
            with_database(places, directory, &mut |place, _| {
                unusable.push(place.to_owned());
            })
        };
        let other_spelling = at("other").join("../this");
        assert_eq!(search(&other_spelling), Some(at("this.conf")));
        assert_eq!(search(folder.path()), None);
        assert_eq!(unusable, [at("wrong.conf"), at("wrong.conf")]);
    }
}
