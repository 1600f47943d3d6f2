//! Changes of `cn=config` in the LDIF files of a start. They hold at each start, and change the
//! settings in memory before any store is opened.
//!
//! ```text
//!   settings --files in memory--> record by record, as a client's change --> settings of the start
//!                                     |
//!                                     '--> refused: the start ends, with file and line
//! ```
//!
//! The files were written for the first start of an image. There, an entry has other numbers, or
//! an attribute that settings here lack. So some records find what they mean.

use std::collections::BTreeSet;
use std::path::Path;

use fulgurite_config::{
    ConfigEntry, ConfigError, ConfigFiles, Layer, Note, Origin, SeedAction, SeedChange,
    SeedModification, SeedOperation, Settings,
};
use fulgurite_directory::{Identity, Name, Session};

use super::editor::ConfigEditor;
use super::seed::password_hash;
use super::seed_changes::update;

/// The name of the directory in messages if no setting names the files.
const FILES: &str = "cn=config";

/// The advice of a start whose configuration directory takes no changes by LDAP.
const HELD: &str = "records of cn=config hold at each start, so cn=config takes no changes by LDAP: \
    remove them once the configuration directory has them, or change their file and send SIGHUP";

/// Returns the settings with the changes of `cn=config` that the LDIF files of a start have.
///
/// # Errors
/// [`ConfigError`] with file and line of the first change that is refused.
pub fn with_seed_configuration(settings: Settings) -> Result<Settings, ConfigError> {
    let changes = settings.configuration_changes(&password_hash(&settings))?;
    let Some(first) = changes.first() else {
        return Ok(settings);
    };
    let folder = settings.global.ldif_directory.value.clone();
    let folder = folder.unwrap_or_else(|| FILES.into());
    let impossible = |text: String| {
        let text = format!("cn=config cannot change: {text}");
        ConfigError::at(&first.origin, text)
    };
    let files = settings.configuration_files(&folder);
    let files = files.map_err(|error| impossible(error.to_string()))?;
    let before = files.layer().and_then(Settings::new);
    let before = before.map_err(|error| impossible(error.to_string()))?;
    let read = |layer: Layer| {
        let after = Settings::new(layer)?;
        Ok(settings.clone().with_configuration(&before, after))
    };
    let held = files.layer().and_then(read);
    let held = held.map_err(|error| impossible(error.to_string()))?;
    let editor = ConfigEditor::in_memory(held, &read);
    let mut run = Run {
        editor: editor.map_err(|error| impossible(error.to_string()))?,
        replaceable: overlays_of_variables(&settings),
        folder: &folder,
    };
    for change in &changes {
        run.make(change)?;
    }
    let mut changed = run.editor.into_settings();
    // A change would be written without the records, and the next start would make them again.
    changed.files = None;
    if settings.files.is_some() {
        changed
            .notes
            .push(Note::warning(&first.origin, HELD.to_owned()));
    }
    Ok(changed)
}

/// Returns the overlays that a file may replace: those of an image whose own files add them.
fn overlays_of_variables(settings: &Settings) -> BTreeSet<String> {
    if settings.seed_words.is_empty() {
        return BTreeSet::new();
    }
    let overlays = settings.stores().flat_map(|database| &database.overlays);
    let overlays = overlays.filter(|overlay| matches!(overlay.origin, Origin::Variable(_)));
    overlays.map(|overlay| overlay.name.clone()).collect()
}

/// The changes of one start.
struct Run<'r> {
    editor: ConfigEditor<'r>,
    replaceable: BTreeSet<String>,
    folder: &'r Path,
}

impl Run<'_> {
    fn make(&mut self, change: &SeedChange) -> Result<(), ConfigError> {
        let entries = self.entries(change)?;
        if let Some(dn) = self.replaced(change, &entries) {
            let removal = SeedChange {
                dn,
                action: SeedAction::Delete,
                origin: change.origin.clone(),
            };
            self.carry_out(&removal)?;
        }
        let entries = self.entries(change)?;
        let mut change = change.clone();
        change.dn = meant_name(&entries, &change);
        if let SeedAction::Modify(parts) = &mut change.action {
            let mut held = entries.iter();
            let held = held.find(|entry| is_same(&entry.dn, &change.dn));
            held.into_iter().for_each(|held| drop_done(held, parts));
            if parts.is_empty() {
                return Ok(());
            }
        }
        self.carry_out(&change)
    }

    fn entries(&self, change: &SeedChange) -> Result<Vec<ConfigEntry>, ConfigError> {
        let files = self.editor.files();
        let entries = files.map_or_else(|| Ok(Vec::new()), ConfigFiles::entries);
        entries.map_err(|error| ConfigError::at(&change.origin, error.to_string()))
    }

    fn carry_out(&mut self, change: &SeedChange) -> Result<(), ConfigError> {
        let root = Identity::User(Name::from(&self.editor.root()));
        let refused = |text: String| {
            let text = format!("{}: refused: {text}", change.dn);
            Err(ConfigError::at(&change.origin, text))
        };
        let Some(request) = update(&Session::of(root), change) else {
            return refused("it is no change".to_owned());
        };
        let (reply, _) = self.editor.change(&request);
        match reply.result.is_success() {
            true => Ok(()),
            false => refused(format!(
                "{}: {}",
                reply.result.code, reply.result.diagnostic
            )),
        }
    }

    /// Returns the overlay that a new one of a file replaces. The image's own files of overlays are
    /// in the folder itself, so a file there replaces one of them.
    fn replaced(&mut self, change: &SeedChange, entries: &[ConfigEntry]) -> Option<String> {
        let SeedAction::Add(_) = change.action else {
            return None;
        };
        let Origin::File { path, .. } = &change.origin else {
            return None;
        };
        let (rdn, _) = split(&change.dn);
        let name = overlay_of(rdn).filter(|_| path.parent() == Some(self.folder))?;
        if !self.replaceable.remove(&name) {
            return None;
        }
        let above = split(&meant_name(entries, change)).1.to_owned();
        let mut held = entries.iter().filter(|entry| {
            let (rdn, over) = split(&entry.dn);
            is_same(over, &above) && overlay_of(rdn).as_ref() == Some(&name)
        });
        held.next().map(|entry| entry.dn.clone())
    }
}

/// Returns the name of the entry that a change is about. A database of mdb that is not there is the
/// first one. An overlay whose number is another one is the only one of its kind.
fn meant_name(entries: &[ConfigEntry], change: &SeedChange) -> String {
    let is_new = matches!(change.action, SeedAction::Add(_));
    let parts: Vec<&str> = change.dn.split(',').map(str::trim).collect();
    let mut above = String::new();
    for (at, rdn) in parts.iter().enumerate().rev() {
        let name = match above.as_str() {
            "" => (*rdn).to_owned(),
            above => format!("{rdn},{above}"),
        };
        let exists = entries.iter().any(|entry| is_same(&entry.dn, &name));
        let is_own = is_new && at == 0;
        above = match exists || is_own {
            true => name,
            false => similar(entries, rdn, &above).unwrap_or(name),
        };
    }
    above
}

/// Returns the entry that a part of a name means if none has it.
fn similar(entries: &[ConfigEntry], rdn: &str, above: &str) -> Option<String> {
    let siblings = entries.iter().filter(|entry| {
        let (_, over) = split(&entry.dn);
        is_same(over, above)
    });
    if let Some(name) = overlay_of(rdn) {
        let mut same =
            siblings.filter(|entry| overlay_of(split(&entry.dn).0) == Some(name.clone()));
        let first = same.next();
        return first
            .filter(|_| same.next().is_none())
            .map(|entry| entry.dn.clone());
    }
    let backend = value_of(rdn, "olcDatabase")?;
    if !["mdb", "hdb", "bdb"].contains(&backend.as_str()) {
        return None;
    }
    let mut databases = siblings.filter(|entry| {
        let backend = value_of(split(&entry.dn).0, "olcDatabase");
        backend.is_some_and(|backend| backend == "mdb")
    });
    // Among several, a wrong number must not change another database than the one meant.
    let first = databases.next();
    first
        .filter(|_| databases.next().is_none())
        .map(|entry| entry.dn.clone())
}

/// Removes the parts of a change that have nothing to do. The entry lacks an attribute to delete,
/// or has a module to add.
fn drop_done(entry: &ConfigEntry, parts: &mut Vec<SeedModification>) {
    let mut earlier = BTreeSet::new();
    parts.retain_mut(|part| {
        let name = part.attribute.to_ascii_lowercase();
        let mut held = entry.attributes.iter();
        let held = held.find(|(known, _)| known.eq_ignore_ascii_case(&name));
        let is_first = earlier.insert(name.clone());
        match part.operation {
            SeedOperation::Delete => held.is_some() || !is_first || !part.values.is_empty(),
            SeedOperation::Add if name == "olcmoduleload" => {
                let held: Vec<&str> = held
                    .iter()
                    .flat_map(|(_, values)| values)
                    .map(|value| without_number(value))
                    .collect();
                part.values.retain(|value| {
                    let value = std::str::from_utf8(value).unwrap_or_default();
                    !held.contains(&without_number(value))
                });
                !part.values.is_empty()
            }
            _ => true,
        }
    });
}

/// Returns the type of the overlay that a name belongs to.
fn overlay_of(rdn: &str) -> Option<String> {
    value_of(rdn, "olcOverlay")
}

/// Returns the value of an RDN with that attribute, without its number and in lower case.
fn value_of(rdn: &str, attribute: &str) -> Option<String> {
    let (name, value) = rdn.split_once('=')?;
    let is_it = name.trim().eq_ignore_ascii_case(attribute);
    is_it.then(|| without_number(value.trim()).to_ascii_lowercase())
}

/// Returns a value without its place in braces.
fn without_number(value: &str) -> &str {
    let rest = value
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'));
    rest.map_or(value, |(_, rest)| rest)
}

/// Returns the first part of a name, and the rest. Names of this tree have no escaped commas.
fn split(dn: &str) -> (&str, &str) {
    dn.split_once(',').unwrap_or((dn, ""))
}

/// Returns true for two spellings of one name.
fn is_same(a: &str, b: &str) -> bool {
    let plain = |dn: &str| -> String {
        let letters = dn.chars().filter(|letter| !letter.is_whitespace());
        letters.collect::<String>().to_lowercase()
    };
    plain(a) == plain(b)
}

#[cfg(test)]
mod tests;
