//! Changes of the tree of entries: one is replaced, added, removed or renamed. Its ordered siblings
//! get new numbers, and with them the entries below.
//!
//! ```text
//!   add olcDatabase={1}monitor:   {0}config {1}mdb {2}mdb  -->  {0}config {1}monitor {2}mdb {3}mdb
//! ```

use super::entry::ConfigEntry;
use super::files::ConfigFiles;
use super::number::{number_of, without_number};
use super::shadow;
use crate::ConfigError;

/// A change of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigChange {
    /// The entry of that name gets these attributes.
    Replace(ConfigEntry),
    /// A new entry. Without a number, its name gets the next one.
    Add(ConfigEntry),
    /// The entry of this name goes. None is below it.
    Remove(String),
    /// An entry gets another number or, below `cn=schema`, another name.
    Rename {
        /// The name of the entry.
        dn: String,
        /// The new first part of the name.
        rdn: String,
    },
}

/// The refusal of a change.
#[derive(Debug, thiserror::Error)]
pub enum ConfigChangeError {
    /// There is no entry of that name.
    #[error("there is no entry \"{0}\"")]
    Missing(String),
    /// An entry of that name exists.
    #[error("there is an entry \"{0}\"")]
    Exists(String),
    /// The numbers below this one belong to other entries.
    #[error("the number of \"{0}\" is taken")]
    Number(String),
    /// A name has another type than the entry.
    #[error("changing database/overlay type not allowed")]
    Type,
    /// There is one frontend, and one database of the configuration.
    #[error("{0} DB already defined")]
    Defined(&'static str),
    /// The number of the frontend or of the database of the configuration is fixed.
    #[error("the number of \"{0}\" is fixed")]
    FixedNumber(String),
    /// No backend has that name.
    #[error("<olcBackend> failed init")]
    Backend,
    /// The definitions of slapd's core are built in.
    #[error("built-in definitions cannot change: put yours in an entry below cn=schema,cn=config")]
    BuiltIn,
    /// A setting of copies belongs to a copy.
    #[error("{0}")]
    NoCopy(&'static str),
    /// Definitions cannot move.
    #[error("schema reordering not supported")]
    SchemaOrder,
    /// The server needs the database.
    #[error("Cannot delete config or frontend database")]
    OwnDatabase,
    /// slapd cannot unload modules.
    #[error("cannot delete {0}")]
    Modules(&'static str),
    /// Modules stay loaded, so their list stays.
    #[error("cannot delete a list of modules")]
    ModuleList,
    /// There is one database `monitor`.
    #[error("only one monitor database allowed")]
    SecondMonitor,
    /// The name cannot change.
    #[error("renaming not allowed for this entry")]
    Fixed,
    /// The files cannot hold the entries.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl ConfigFiles {
    /// Returns the files after a change, and the name of the changed entry.
    ///
    /// # Errors
    /// [`ConfigChangeError`]; these files do not change in any case.
    pub fn changed(
        &self,
        change: ConfigChange,
    ) -> Result<(ConfigFiles, String), ConfigChangeError> {
        let mut entries = self.entries()?;
        let name = match change {
            ConfigChange::Replace(entry) => replace(&mut entries, entry)?,
            ConfigChange::Add(entry) => add(&mut entries, entry)?,
            ConfigChange::Remove(dn) => remove(&mut entries, &dn)?,
            ConfigChange::Rename { dn, rdn } => rename(&mut entries, &dn, &rdn)?,
        };
        Ok((self.with_entries(&entries)?, name))
    }
}

/// The backends of slapd that this server has.
const BACKENDS: [&str; 4] = ["mdb", "monitor", "config", "frontend"];

/// The name of an entry among ordered siblings.
struct OrderedName<'n> {
    attribute: &'n str,
    number: Option<i32>,
    /// The value without its number.
    bare: &'n str,
    /// The number follows the value: `module{0}`.
    is_module: bool,
    is_database: bool,
}

impl<'n> OrderedName<'n> {
    /// Returns the parts of a name whose siblings are ordered.
    fn of(dn: &'n str) -> Option<OrderedName<'n>> {
        let (rdn, above) = split(dn);
        let (attribute, value) = rdn.split_once('=')?;
        let (attribute, value) = (attribute.trim(), value.trim());
        let is = |name: &str| attribute.eq_ignore_ascii_case(name);
        let is_module = is("cn")
            && value
                .get(..6)
                .is_some_and(|head| head.eq_ignore_ascii_case("module"))
            && same(above, "cn=config");
        let is_schema = is("cn") && same(above, "cn=schema,cn=config");
        if is_module {
            let (bare, number) = value.split_at(6);
            return Some(OrderedName {
                attribute,
                number: number_of(number),
                bare,
                is_module,
                is_database: false,
            });
        }
        let is_ordered = ["olcDatabase", "olcOverlay", "olcBackend"]
            .into_iter()
            .any(is);
        (is_ordered || is_schema).then(|| OrderedName {
            attribute,
            number: number_of(value),
            bare: without_number(value),
            is_module,
            // Those below an overlay count from zero.
            is_database: is("olcDatabase") && same(above, "cn=config"),
        })
    }

    /// Returns the least number. The databases below belong to the server itself.
    fn least(&self) -> i32 {
        i32::from(self.is_database)
    }

    /// Returns true for the frontend and the database of the configuration.
    fn is_fixed(&self) -> bool {
        let own = ["frontend", "config"];
        self.is_database && own.iter().any(|own| self.bare.eq_ignore_ascii_case(own))
    }

    /// Returns true if both count together.
    fn counts_with(&self, other: &OrderedName<'_>) -> bool {
        self.attribute.eq_ignore_ascii_case(other.attribute)
            && self.is_module == other.is_module
            && !other.is_fixed()
    }

    /// Returns the value with a number.
    fn numbered(&self, number: i32) -> String {
        match self.is_module {
            true => format!("{}{{{number}}}", self.bare),
            false => format!("{{{number}}}{}", self.bare),
        }
    }
}

fn replace(entries: &mut [ConfigEntry], new: ConfigEntry) -> Result<String, ConfigChangeError> {
    let mut held = entries.iter_mut();
    let held = held.find(|held| same(&held.dn, &new.dn));
    let held = held.ok_or(ConfigChangeError::Missing(new.dn.clone()))?;
    if same(&held.dn, "cn=schema,cn=config") {
        return Err(ConfigChangeError::BuiltIn);
    }
    shadow::require(Some(&*held), &new).map_err(ConfigChangeError::NoCopy)?;
    require_modules(held, &new)?;
    held.attributes = new.attributes;
    Ok(held.dn.clone())
}

/// Fails if a list of modules loses a value. slapd could not read the files, if an overlay needs
/// that module.
fn require_modules(held: &ConfigEntry, new: &ConfigEntry) -> Result<(), ConfigChangeError> {
    if OrderedName::of(&held.dn).is_none_or(|name| !name.is_module) {
        return Ok(());
    }
    for attribute in ["olcModuleLoad", "olcModulePath"] {
        let bare = |entry: &ConfigEntry| -> Vec<String> {
            let values = entry.values(attribute).iter();
            values
                .map(|value| without_number(value).to_owned())
                .collect()
        };
        let kept = bare(new);
        if bare(held).iter().any(|value| !kept.contains(value)) {
            return Err(ConfigChangeError::Modules(attribute));
        }
    }
    Ok(())
}

fn add(entries: &mut Vec<ConfigEntry>, mut new: ConfigEntry) -> Result<String, ConfigChangeError> {
    let above = superior(entries, &new.dn)?;
    shadow::require(None, &new).map_err(ConfigChangeError::NoCopy)?;
    let dn = new.dn.clone();
    let exists = entries.iter().any(|held| same(&held.dn, &dn));
    let name = OrderedName::of(&dn);
    let fixed = name.as_ref().filter(|name| name.is_fixed());
    if let Some(fixed) = fixed.filter(|_| !exists) {
        require_only(entries, fixed, &dn)?;
    }
    if let Some(name) = &name
        && name.attribute.eq_ignore_ascii_case("olcBackend")
        && !BACKENDS.contains(&name.bare)
    {
        return Err(ConfigChangeError::Backend);
    }
    let Some(name) = name.filter(|name| !name.is_fixed()) else {
        if exists {
            return Err(ConfigChangeError::Exists(dn));
        }
        new.dn = format!("{},{above}", split(&dn).0);
        let dn = new.dn.clone();
        entries.push(new);
        return Ok(dn);
    };
    let least = name.least();
    if name.number.is_some_and(|number| number < least) {
        return Err(ConfigChangeError::Number(dn));
    }
    let is_monitor = |dn: &str| {
        let name = OrderedName::of(dn);
        name.is_some_and(|name| name.is_database && name.bare.eq_ignore_ascii_case("monitor"))
    };
    if is_monitor(&dn) && entries.iter().any(|held| is_monitor(&held.dn)) {
        return Err(ConfigChangeError::SecondMonitor);
    }
    let siblings = siblings(entries, &name, &above);
    let place = place(&name, siblings.len());
    renumber(entries, &siblings, |at| {
        least + number(at + usize::from(at >= place))
    });
    rename_one(&mut new, &name.numbered(least + number(place)), &above);
    let dn = new.dn.clone();
    entries.push(new);
    Ok(dn)
}

/// Fails for a second frontend and a second database of the configuration.
fn require_only(
    entries: &[ConfigEntry],
    new: &OrderedName<'_>,
    dn: &str,
) -> Result<(), ConfigChangeError> {
    let (own, number) = match new.bare.eq_ignore_ascii_case("frontend") {
        true => ("frontend", -1),
        false => ("config", 0),
    };
    if new.number.is_some_and(|wanted| wanted != number) {
        return Err(ConfigChangeError::FixedNumber(dn.to_owned()));
    }
    let is_other = |held: &ConfigEntry| {
        let name = OrderedName::of(&held.dn);
        name.is_some_and(|name| name.is_database && name.bare.eq_ignore_ascii_case(own))
    };
    match entries.iter().any(is_other) {
        true => Err(ConfigChangeError::Defined(own)),
        false => Ok(()),
    }
}

fn remove(entries: &mut Vec<ConfigEntry>, dn: &str) -> Result<String, ConfigChangeError> {
    let at = entries.iter().position(|held| same(&held.dn, dn));
    let at = at.ok_or_else(|| ConfigChangeError::Missing(dn.to_owned()))?;
    let is_own = |dn: &str| OrderedName::of(dn).is_some_and(|name| name.is_fixed());
    if is_own(dn) {
        return Err(ConfigChangeError::OwnDatabase);
    }
    if OrderedName::of(dn).is_some_and(|name| name.is_module) {
        return Err(ConfigChangeError::ModuleList);
    }
    let gone = entries.remove(at).dn;
    if let Some(name) = OrderedName::of(&gone) {
        let siblings = siblings(entries, &name, split(&gone).1);
        renumber(entries, &siblings, |at| name.least() + number(at));
    }
    Ok(gone)
}

fn rename(entries: &mut [ConfigEntry], dn: &str, rdn: &str) -> Result<String, ConfigChangeError> {
    let mut held = entries.iter();
    let held = held.find(|held| same(&held.dn, dn));
    let held = held.ok_or_else(|| ConfigChangeError::Missing(dn.to_owned()))?;
    let (old_dn, above) = (held.dn.clone(), split(&held.dn).1.to_owned());
    let new_dn = format!("{rdn},{above}");
    let names = OrderedName::of(&old_dn).zip(OrderedName::of(&new_dn));
    let Some((old, new)) = names.filter(|(old, _)| !old.is_fixed()) else {
        return Err(ConfigChangeError::Fixed);
    };
    let is_schema = same(&above, "cn=schema,cn=config");
    if is_schema && new.number.is_some_and(|number| Some(number) != old.number) {
        return Err(ConfigChangeError::SchemaOrder);
    }
    if !old.attribute.eq_ignore_ascii_case(new.attribute)
        || (!is_schema && !old.bare.eq_ignore_ascii_case(new.bare))
    {
        return Err(ConfigChangeError::Type);
    }
    let least = old.least();
    if new.number.is_some_and(|number| number < least) {
        return Err(ConfigChangeError::Number(new_dn));
    }
    if is_schema {
        let value = new.numbered(old.number.unwrap_or(0));
        let renamed = |entry: &&mut ConfigEntry| same(&entry.dn, &old_dn);
        if let Some(entry) = entries.iter_mut().find(renamed) {
            rename_one(entry, &value, &above);
        }
        return Ok(format!("{}={value},{above}", old.attribute));
    }
    let mut siblings = siblings(entries, &old, &above);
    siblings.retain(|sibling| !same(sibling, &old_dn));
    let place = place(&new, siblings.len());
    siblings.insert(place, old_dn.clone());
    renumber(entries, &siblings, |at| least + number(at));
    let value = old.numbered(least + number(place));
    Ok(format!("{}={value},{above}", old.attribute))
}

/// Returns the place of a name among `siblings` others. Numbers beyond the last are cut.
fn place(name: &OrderedName<'_>, siblings: usize) -> usize {
    let wanted = name.number.map(|number| number - name.least());
    let wanted = wanted.and_then(|place| usize::try_from(place).ok());
    wanted.map_or(siblings, |place| place.min(siblings))
}

/// Returns the name of the entry above a new one, as it is written.
fn superior(entries: &[ConfigEntry], dn: &str) -> Result<String, ConfigChangeError> {
    let above = split(dn).1;
    let mut held = entries.iter().map(|held| &held.dn);
    let held = held.find(|held| same(held, above));
    held.cloned()
        .ok_or_else(|| ConfigChangeError::Missing(above.to_owned()))
}

/// Returns the names of the entries that count with a name, in their order.
fn siblings(entries: &[ConfigEntry], name: &OrderedName<'_>, above: &str) -> Vec<String> {
    let mut siblings: Vec<(i32, String)> = entries
        .iter()
        .filter(|held| same(split(&held.dn).1, above))
        .filter_map(|held| {
            let other = OrderedName::of(&held.dn)?;
            let number = other.number.unwrap_or(i32::MAX);
            name.counts_with(&other).then(|| (number, held.dn.clone()))
        })
        .collect();
    siblings.sort();
    siblings.into_iter().map(|(_, dn)| dn).collect()
}

/// Gives each sibling the number of its place, with the entries below it.
fn renumber(entries: &mut [ConfigEntry], siblings: &[String], number_at: impl Fn(usize) -> i32) {
    for entry in entries {
        let is_of = |sibling: &&String| {
            let head = entry.dn.strip_suffix(sibling.as_str());
            head.is_some_and(|head| head.is_empty() || head.ends_with(','))
        };
        let Some((at, sibling)) = siblings.iter().enumerate().find(|(_, one)| is_of(one)) else {
            continue;
        };
        let Some(name) = OrderedName::of(sibling) else {
            continue;
        };
        let value = name.numbered(number_at(at));
        let above = split(sibling).1;
        match entry.dn.strip_suffix(sibling.as_str()) {
            Some("") => rename_one(entry, &value, above),
            Some(head) => entry.dn = format!("{head}{}={value},{above}", name.attribute),
            None => {}
        }
    }
}

/// Gives an entry another value in its name.
fn rename_one(entry: &mut ConfigEntry, value: &str, above: &str) {
    let (rdn, _) = split(&entry.dn);
    let (attribute, old) = rdn.split_once('=').unwrap_or((rdn, ""));
    let (attribute, old) = (attribute.trim().to_owned(), old.trim().to_owned());
    let named = entry.attributes.iter_mut();
    for (_, values) in named.filter(|(name, _)| name.eq_ignore_ascii_case(&attribute)) {
        let mut values = values.iter_mut();
        if let Some(held) = values.find(|held| held.eq_ignore_ascii_case(&old)) {
            value.clone_into(held);
        }
    }
    entry.dn = format!("{attribute}={value},{above}");
}

fn number(place: usize) -> i32 {
    i32::try_from(place).unwrap_or(i32::MAX - 1)
}

/// Returns the first part of a name, and the rest. Names of this tree have no escaped commas.
fn split(dn: &str) -> (&str, &str) {
    let (rdn, above) = dn.split_once(',').unwrap_or((dn, ""));
    (rdn.trim(), above.trim())
}

/// Returns true for two spellings of one name.
fn same(a: &str, b: &str) -> bool {
    let plain = |dn: &str| {
        let parts = dn.split(',').map(|part| {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            format!("{}={}", attribute.trim(), value.trim()).to_lowercase()
        });
        parts.collect::<Vec<_>>()
    };
    plain(a) == plain(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(names: &[&str]) -> Vec<ConfigEntry> {
        names.iter().map(|dn| entry(dn)).collect()
    }

    fn entry(dn: &str) -> ConfigEntry {
        let (name, value) = split(dn).0.split_once('=').unwrap();
        ConfigEntry {
            dn: dn.to_owned(),
            attributes: vec![(name.to_owned(), vec![value.to_owned()])],
        }
    }

    /// Returns the names, after a look at the values that belong to them.
    fn names(mut entries: Vec<ConfigEntry>) -> Vec<String> {
        entries.sort_by(|a, b| a.dn.cmp(&b.dn));
        entries
            .into_iter()
            .map(|held| {
                let rdn = format!("{}={}", held.attributes[0].0, held.attributes[0].1[0]);
                assert_eq!(split(&held.dn).0, rdn);
                held.dn
            })
            .collect()
    }

    const DATABASES: [&str; 6] = [
        "cn=config",
        "olcDatabase={-1}frontend,cn=config",
        "olcDatabase={0}config,cn=config",
        "olcDatabase={1}mdb,cn=config",
        "olcDatabase={2}mdb,cn=config",
        "olcOverlay={0}unique,olcDatabase={2}mdb,cn=config",
    ];

    #[test]
    fn a_new_database_moves_the_later_ones_with_their_overlays() {
        for (dn, place) in [
            ("olcDatabase=monitor,cn=config", "{3}"),
            ("olcDatabase={9}monitor, cn=config", "{3}"),
            ("olcDatabase={2}monitor,cn=config", "{2}"),
            ("olcDatabase={1}monitor,cn=config", "{1}"),
        ] {
            let mut all = entries(&DATABASES);
            let added = add(&mut all, entry(dn)).unwrap();
            assert_eq!(added, format!("olcDatabase={place}monitor,cn=config"));
            let overlay = match place {
                "{3}" => "olcOverlay={0}unique,olcDatabase={2}mdb,cn=config",
                _ => "olcOverlay={0}unique,olcDatabase={3}mdb,cn=config",
            };
            let now = names(all.clone());
            assert!(now.iter().any(|name| name == overlay), "{now:?}");
            let gone = remove(&mut all, &added).unwrap();
            assert_eq!(gone, added);
            assert_eq!(names(all), names(entries(&DATABASES)));
        }
        let taken = add(
            &mut entries(&DATABASES),
            entry("olcDatabase={0}mdb,cn=config"),
        );
        assert!(matches!(taken, Err(ConfigChangeError::Number(_))));
        for (dn, text) in [
            (
                "olcDatabase=frontend,cn=config",
                "frontend DB already defined",
            ),
            ("olcDatabase=config,cn=config", "config DB already defined"),
            ("olcBackend=bogus,cn=config", "<olcBackend> failed init"),
            (
                "olcDatabase={5}frontend,cn=config",
                "the number of \"olcDatabase={5}frontend,cn=config\" is fixed",
            ),
        ] {
            let refused = add(&mut entries(&DATABASES), entry(dn)).unwrap_err();
            assert_eq!(refused.to_string(), text);
        }
        let nowhere = entry("olcOverlay=unique,olcDatabase={7}mdb,cn=config");
        let nowhere = add(&mut entries(&DATABASES), nowhere);
        assert!(matches!(nowhere, Err(ConfigChangeError::Missing(_))));
    }

    #[test]
    fn entries_change_places_but_not_their_types() {
        let mut all = entries(&DATABASES);
        let dn = "olcDatabase={1}mdb,cn=config";
        let moved = rename(&mut all, dn, "olcDatabase={2}mdb").unwrap();
        assert_eq!(moved, "olcDatabase={2}mdb,cn=config");
        let overlay = "olcOverlay={0}unique,olcDatabase={1}mdb,cn=config";
        assert!(names(all).iter().any(|name| name == overlay));
        let refused = |dn, rdn| rename(&mut entries(&DATABASES), dn, rdn).unwrap_err();
        let text = refused(dn, "olcDatabase={1}monitor").to_string();
        assert_eq!(text, "changing database/overlay type not allowed");
        let number = refused(dn, "olcDatabase={0}mdb");
        assert!(matches!(number, ConfigChangeError::Number(_)));
        let fixed = refused(DATABASES[2], "olcDatabase={1}config");
        assert!(matches!(fixed, ConfigChangeError::Fixed));
    }

    #[test]
    fn definitions_and_modules_are_numbered() {
        let names = ["cn=config", "cn=schema,cn=config"];
        let mut all = entries(&names);
        for (dn, expected) in [
            ("cn=a,cn=schema,cn=config", "cn={0}a,cn=schema,cn=config"),
            ("cn=a,cn=schema,cn=config", "cn={1}a,cn=schema,cn=config"),
            ("cn=module,cn=config", "cn=module{0},cn=config"),
            ("cn=module{7},cn=config", "cn=module{1},cn=config"),
        ] {
            assert_eq!(add(&mut all, entry(dn)).unwrap(), expected);
        }
        let dn = "cn={1}a,cn=schema,cn=config";
        let moved = rename(&mut all.clone(), dn, "cn={0}a").unwrap_err();
        assert_eq!(moved.to_string(), "schema reordering not supported");
        let renamed = rename(&mut all, dn, "cn={1}b").unwrap();
        assert_eq!(renamed, "cn={1}b,cn=schema,cn=config");
        let twice = add(&mut all, entry("cn=schema,cn=config"));
        assert!(matches!(twice, Err(ConfigChangeError::Exists(_))));
    }
}
