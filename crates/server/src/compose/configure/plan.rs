//! The plan of a change: the files after it, and the settings that they mean.

use std::sync::Arc;

use fulgurite_config::{ConfigChange, ConfigEntry, ConfigError, ConfigFiles, Layer, Settings};
use fulgurite_directory::{Directory, TreeChange, TreeEntry, TreeRefusal};
use fulgurite_schema::Schema;

use super::checks::{
    refuse_covered, refuse_duplicates, refuse_meaningless, refuse_missing_folders, refuse_schemes,
};
use super::refusals::{config_refusal, refusal, unwilling};
use crate::compose::merge::{self, BUILT_IN};
use crate::replication::directory_source::ToldConfiguration;

/// The refusal of changes of settings that no directory holds.
const NO_FILES: &str = "the configuration is no directory";

/// The entries without which no server can be configured.
const NEEDED: [&str; 2] = ["cn=config", "olcDatabase={0}config,cn=config"];

/// A change that the parser of a start has accepted.
pub(in crate::compose) struct ChangePlan {
    pub(in crate::compose) old_files: Arc<ConfigFiles>,
    pub(in crate::compose) new_files: ConfigFiles,
    /// The name of the changed entry.
    pub(in crate::compose) name: String,
    /// The settings after the change.
    pub(in crate::compose) wanted: Settings,
}

impl ChangePlan {
    /// Reads the files after a change.
    pub(in crate::compose) fn of(
        held: &Settings,
        current: &Directory,
        change: &TreeChange,
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<ChangePlan, TreeRefusal> {
        let schema = current.schema();
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let change = resolve(schema, held, change)?;
        let is_new = matches!(change, ConfigChange::Add(_));
        refuse_duplicates(files, &change)?;
        refuse_schemes(files, &change)?;
        let (new_files, name) = files.changed(change).map_err(refusal)?;
        let new_files = numbered(current, files, new_files).map_err(config_refusal)?;
        let layer = new_files.layer().map_err(config_refusal)?;
        let before = if is_new { None } else { Some(&**files) };
        refuse_meaningless(before, &layer, &new_files, &name)?;
        let wanted = read(layer).map_err(config_refusal)?;
        refuse_covered(schema, &wanted)?;
        refuse_missing_folders(held, &wanted)?;
        Ok(ChangePlan {
            old_files: Arc::clone(files),
            new_files,
            name,
            wanted,
        })
    }

    /// Reads the files with the entries of a provider at and below `base`; `None` if they are the
    /// same. The built-in definitions are those of this server.
    pub(super) fn of_copy(
        held: &Settings,
        schema: &Schema,
        told: ToldConfiguration,
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<Option<ChangePlan>, TreeRefusal> {
        let (base, entries) = (&*told.base, told.entries);
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let own = files.entries().map_err(config_refusal)?;
        let is_built_in = |entry: &ConfigEntry| entry.dn.eq_ignore_ascii_case(BUILT_IN);
        let has_built_in = own.iter().any(is_built_in);
        let kept = own.into_iter();
        let mut all: Vec<ConfigEntry> = kept
            .filter(|entry| !is_within(&entry.dn, base) || is_built_in(entry))
            .collect();
        let told = entries.into_iter();
        all.extend(told.filter(|entry| !has_built_in || !is_built_in(entry)));
        ChangePlan::of_entries(held, schema, (&all, format!("a copy of {base}")), read)
    }

    /// Reads the files after a merge with the entries of a provider; `None` if they are the same.
    pub(super) fn of_merge(
        held: &Settings,
        current: &Directory,
        told: ToldConfiguration,
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<Option<ChangePlan>, TreeRefusal> {
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let own = files.entries().map_err(config_refusal)?;
        let merged = merge::merge(own, told.entries, &told.state, current.server_id());
        let name = "a merge with another provider".to_owned();
        let plan = ChangePlan::of_entries(held, current.schema(), (&merged.entries, name), read)?;
        if plan.is_some() {
            for lost in merged.lost {
                tracing::warn!("another entry of the merged configuration replaces \"{lost}\"");
            }
        }
        Ok(plan)
    }

    /// Reads the files of all entries of another server; `None` if they are the same.
    fn of_entries(
        held: &Settings,
        schema: &Schema,
        (all, name): (&[ConfigEntry], String),
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<Option<ChangePlan>, TreeRefusal> {
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let is_told = |name: &&str| all.iter().any(|entry| entry.dn.eq_ignore_ascii_case(name));
        if let Some(missing) = NEEDED.iter().find(|name| !is_told(name)) {
            let text = format!("the provider has not told the entry \"{missing}\"");
            return Err(unwilling(text));
        }
        let new_files = files.with_entries(all).map_err(config_refusal)?;
        if new_files == **files {
            return Ok(None);
        }
        let wanted = read(new_files.layer().map_err(config_refusal)?).map_err(config_refusal)?;
        refuse_covered(schema, &wanted)?;
        refuse_missing_folders(held, &wanted)?;
        Ok(Some(ChangePlan {
            old_files: Arc::clone(files),
            new_files,
            name,
            wanted,
        }))
    }
}

/// Returns changed files with their numbers, if other servers merge them with theirs.
fn numbered(
    current: &Directory,
    before: &ConfigFiles,
    after: ConfigFiles,
) -> Result<ConfigFiles, ConfigError> {
    let entries = after.entries()?;
    // A server without a number cannot number its changes. They are those of no server.
    if current.server_id() == 0 || !merge::is_wanted(&entries) {
        return Ok(after);
    }
    let next = |floor| current.next_csn(floor);
    let noted = merge::note_change(&before.entries()?, entries, current.server_id(), &next);
    after.with_entries(&noted)
}

/// Returns true for a name at or below another one. Names of this tree have no escaped commas.
fn is_within(dn: &str, base: &str) -> bool {
    let (dn, base) = (dn.to_ascii_lowercase(), base.to_ascii_lowercase());
    let above = dn.strip_suffix(&base);
    above.is_some_and(|above| above.is_empty() || above.ends_with(','))
}

/// Returns the change of the files. Attributes that the schema lacks stay in their entry.
fn resolve(
    schema: &Schema,
    settings: &Settings,
    change: &TreeChange,
) -> Result<ConfigChange, TreeRefusal> {
    Ok(match change {
        TreeChange::Add(entry) => ConfigChange::Add(config_entry(entry)?),
        TreeChange::Remove(dn) => ConfigChange::Remove(dn.clone()),
        TreeChange::Rename { dn, rdn } => ConfigChange::Rename {
            dn: dn.clone(),
            rdn: rdn.clone(),
        },
        TreeChange::Replace(entry) => {
            let mut entry = config_entry(entry)?;
            let files = settings.files.iter();
            let held = files.flat_map(|files| files.entries().unwrap_or_default());
            let held = held.filter(|held| held.dn.eq_ignore_ascii_case(&entry.dn));
            let unknown = held.flat_map(|held| held.attributes);
            let unknown = unknown.filter(|(name, _)| schema.describe(name.as_bytes()).is_err());
            entry.attributes.extend(unknown.collect::<Vec<_>>());
            ConfigChange::Replace(entry)
        }
    })
}

fn config_entry(entry: &TreeEntry) -> Result<ConfigEntry, TreeRefusal> {
    let mut attributes = Vec::new();
    for (name, values) in &entry.attributes {
        let values = values.iter().map(|value| String::from_utf8(value.clone()));
        let values = values.collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|_| unwilling(format!("{name}: a value is not UTF-8")))?;
        attributes.push((name.clone(), values));
    }
    Ok(ConfigEntry {
        dn: entry.dn.clone(),
        attributes,
    })
}
