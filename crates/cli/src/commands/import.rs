//! `fulgurite import`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_config::{Database, SchemaPart, Settings, Sourced};
use fulgurite_directory_tools::{
    GroupRule, ImportCheck, ImportEvent, ImportOptions, ImportSummary, MissingType,
    import_and_check, import_openldap, missing_classes, missing_types, suffixes_of,
};
use fulgurite_schema::{Builtin, Schema};
use fulgurite_store::{Store, StoreOptions};

use super::one_line;
use crate::arguments::tools::Import;
use crate::lock::DataLock;
use crate::slapd_places;

/// The file for definitions that the schema lacks.
const DEFINITIONS: &str = "imported.schema";

pub(crate) fn run(command: Import) -> anyhow::Result<()> {
    let Some(data) = command.flags.path("data") else {
        bail!("the data directory is not set: use --data DIR for the new store");
    };
    if Store::exists(&data) {
        bail!("{} contains a store already", data.display());
    }
    let suffixes = suffixes_of(&command.from)?;
    if suffixes.is_empty() {
        bail!("{} contains no entries", command.from.display());
    }
    let _lock = DataLock::take_or_make(&data)?;
    let slapd = slapd_configuration(&command);
    let prepared = prepare(&command, slapd.as_deref(), &data, &suffixes[0])?;
    let database = prepared.settings.first_store()?;
    let computed: Vec<String> = database.computed_attributes().collect();
    let new = NewStore {
        data: &data,
        suffixes,
        schema: Arc::clone(&prepared.schema),
        database,
    };
    let leave_out = match (command.keep_memberof, computed.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => vec!["memberOf".to_owned()],
        (false, false) => computed.clone(),
    };
    let options = ImportOptions {
        lenient: command.lenient,
        continue_on_error: command.r#continue,
        leave_out,
    };
    let (summary, _) = fill(&command.from, new, &options, None, command.quiet)?;
    prepared.report(&data);
    match summary.values_left_out {
        0 => {}
        count if computed.is_empty() => eprintln!(
            "values of memberOf left out: {count}, because no group would change them; --keep-memberof takes them"
        ),
        count => eprintln!(
            "values of {} left out: {count}, because the server computes them from the groups",
            computed.join(" and ")
        ),
    }
    if !command.quiet {
        eprintln!(
            "{} entries found, {} imported, {} skipped",
            summary.found, summary.taken, summary.left_out
        );
    }
    match summary.left_out {
        0 => Ok(()),
        _ => bail!("some entries were skipped"),
    }
}

/// The settings and the schema of an import.
struct Prepared {
    settings: Settings,
    schema: Arc<Schema>,
    /// Parts of the built-in schema that the data need.
    builtin: Vec<Builtin>,
    /// The number of types defined in a file.
    defined: usize,
}

/// Returns the place of slapd's configuration. Without a flag, it is the installed one that has the
/// imported database.
fn slapd_configuration(command: &Import) -> Option<PathBuf> {
    let given = command.slapd_dir.as_ref().or(command.slapd_conf.as_ref());
    if given.is_some() || command.flags.config.is_some() {
        return given.cloned();
    }
    let found = slapd_places::installed_for(&command.from, &mut |place, error| {
        eprintln!("{} is not used: {error}", place.display());
    });
    if let Some(place) = found.as_ref().filter(|_| !command.quiet) {
        eprintln!("schema and indexes are those of {}", place.display());
    }
    found
}

/// Reads the settings. With --lenient, adds what the schema lacks.
fn prepare(
    command: &Import,
    slapd: Option<&Path>,
    data: &Path,
    suffix: &str,
) -> anyhow::Result<Prepared> {
    let mut settings = command.settings(slapd, suffix)?;
    let mut schema = fulgurite_server::schema(&settings)?;
    let mut missing = missing_types(&command.from, &schema)?;
    let mut builtin = Vec::new();
    if !missing.is_empty() {
        if !command.lenient {
            bail!("{}", refusal(&missing));
        }
        builtin.extend(missing.iter().filter_map(|one| one.builtin));
        builtin.sort_unstable_by_key(|part| part.name());
        builtin.dedup();
        let files = builtin.iter().map(|part| file_of(*part));
        add_schema(&mut settings, files.map(PathBuf::from));
        schema = fulgurite_server::schema(&settings)?;
        missing = missing_types(&command.from, &schema)?;
    }
    let define = |settings: &mut Settings, text: &str| {
        let path = data.join(DEFINITIONS);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        let is_known = |part: &Sourced<SchemaPart>| matches!(&part.value, SchemaPart::File(file) if *file == path);
        if !settings.global.schema.iter().any(is_known) {
            add_schema(settings, [path]);
        }
        Ok::<_, anyhow::Error>(fulgurite_server::schema(settings)?)
    };
    let mut text: String = missing.iter().map(|one| one.definition() + "\n").collect();
    let mut defined = missing.len();
    if !missing.is_empty() {
        schema = define(&mut settings, &text)?;
    }
    if command.lenient {
        let classes = missing_classes(&command.from, &schema)?;
        defined += classes.len();
        text.extend(classes.iter().map(|one| one.definition() + "\n"));
        if !classes.is_empty() {
            schema = define(&mut settings, &text)?;
        }
    }
    Ok(Prepared {
        settings,
        schema: Arc::new(schema),
        builtin,
        defined,
    })
}

/// Returns the sentence about types that the schema lacks.
pub(super) fn refusal(missing: &[MissingType]) -> String {
    let known = missing.iter().find_map(|one| Some((one, one.builtin?)));
    match known {
        Some((one, part)) => format!(
            "the schema lacks {}, which {1} defines; it is built in: use --schema {1}, or --lenient",
            one.name,
            file_of(part)
        ),
        None => format!(
            "the schema lacks {} types, such as {}; use the schema files, or --lenient",
            missing.len(),
            missing[0].name
        ),
    }
}

fn file_of(part: Builtin) -> String {
    format!("{}.schema", part.name())
}

fn add_schema(settings: &mut Settings, files: impl IntoIterator<Item = PathBuf>) {
    let parts = files.into_iter().map(SchemaPart::File);
    settings
        .global
        .schema
        .extend(parts.map(Sourced::by_default));
}

impl Prepared {
    /// Says which schema files the server needs for the imported data.
    fn report(&self, data: &Path) {
        for part in &self.builtin {
            eprintln!(
                "the data need {0}, which is built in: serve with --schema {0}",
                file_of(*part)
            );
        }
        if self.defined > 0 {
            let path = data.join(DEFINITIONS);
            eprintln!(
                "{} attribute types and object classes that the schema lacks are defined in {1}: serve with --schema {1}",
                self.defined,
                path.display()
            );
        }
    }
}

/// A store that an import makes.
pub(super) struct NewStore<'a> {
    /// Its directory.
    pub(super) data: &'a Path,
    pub(super) suffixes: Vec<String>,
    pub(super) schema: Arc<Schema>,
    /// Its settings.
    pub(super) database: &'a Database,
}

/// Makes a store, and fills it from a database of OpenLDAP. With `groups`, it compares both. It
/// removes the store again if that fails.
pub(super) fn fill(
    from: &Path,
    new: NewStore<'_>,
    options: &ImportOptions,
    groups: Option<&[GroupRule]>,
    quiet: bool,
) -> anyhow::Result<(ImportSummary, Option<ImportCheck>)> {
    let data = new.data;
    let store = new.create()?;
    let mut report = |event| match event {
        ImportEvent::Progress(done, all) if !quiet && done % 100_000 == 0 => {
            eprintln!("{done} of {all} entries");
        }
        ImportEvent::Progress(..) => {}
        ImportEvent::LeftOut(error) => {
            eprintln!("fulgurite: skipped: {}", one_line(&error.into()));
        }
    };
    let done = match groups {
        None => import_openldap(from, &store, options, &mut report).map(|done| (done, None)),
        Some(groups) => import_and_check(from, &store, options, groups, &mut report)
            .map(|(done, check)| (done, Some(check))),
    };
    drop(store);
    if done.is_err() {
        for name in ["data.mdb", "lock.mdb", DEFINITIONS] {
            // A missing file needs no removal.
            let _ = std::fs::remove_file(data.join(name));
        }
    }
    Ok(done?)
}

impl NewStore<'_> {
    fn create(self) -> anyhow::Result<Store> {
        let NewStore {
            data,
            suffixes,
            schema,
            database,
        } = self;
        if Store::exists(data) {
            bail!("{} contains a store already", data.display());
        }
        let configured = database
            .indexes()
            .into_iter()
            .map(|index| format!("{}:{}", index.attribute, index.kinds).parse());
        let configured: Vec<fulgurite_store::IndexSpec> = configured.collect::<Result<_, _>>()?;
        let usable = configured
            .into_iter()
            .filter(|index| schema.attribute(&index.attribute).is_some());
        let options = StoreOptions {
            suffixes,
            indexes: Some(usable.collect()),
            map_bytes_max: Some(*database.storage.map_bytes_max),
            ..StoreOptions::default()
        };
        Ok(Store::create(data, &options, schema)?)
    }
}
