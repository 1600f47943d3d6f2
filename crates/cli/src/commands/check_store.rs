//! The part of `fulgurite check` that compares the entries of a store with its indexes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use fulgurite_config::Settings;
use fulgurite_engine_tools::{Access, CheckedEnvironment, ContentReport};
use fulgurite_schema::{Builtin, Schema, SchemaBuilder};
use fulgurite_store::{OpenError, Store, StoreOptions, verify};

use crate::arguments::tools::ConfigFlags;
use crate::slapd_places;

/// The data file of a store.
const DATA: &str = "data.mdb";

/// Databases of every store.
const DATABASES: [&str; 3] = ["meta", "entries", "names"];

/// The advice for a store whose schema is not known.
const ADVICE: &str = "the pages are sound, but the entries could not be checked. Name the server's \
     configuration with --config FILE, -f FILE or -F DIR, or use --pages-only";

/// A check that is to come.
pub(super) struct StoreCheck<'c> {
    directory: PathBuf,
    has_lock: bool,
    config: &'c ConfigFlags,
}

impl<'c> StoreCheck<'c> {
    /// Returns the check if the pages are sound and those of a store.
    pub(super) fn of(
        checked: &CheckedEnvironment,
        config: &'c ConfigFlags,
    ) -> Option<StoreCheck<'c>> {
        let has = |name: &&str| checked.report.databases.iter().any(|db| db.name == **name);
        let is_store = checked.report.is_sound()
            && checked.data.file_name().is_some_and(|name| name == DATA)
            && DATABASES.iter().all(has);
        let parent = checked.data.parent()?;
        let directory = match parent.as_os_str().is_empty() {
            true => Path::new("."),
            false => parent,
        };
        is_store.then(|| StoreCheck {
            directory: directory.to_owned(),
            has_lock: matches!(checked.access, Access::Pinned),
            config,
        })
    }

    /// Compares the entries with names, counts, indexes and the log of changes.
    pub(super) fn run(self) -> anyhow::Result<ContentReport> {
        let store = match self.open_configured() {
            Ok(store) => Ok(store),
            // Without a configuration, the store may need definitions of any built-in part.
            Err(error) if self.is_configured() => Err(error),
            Err(_) => self.open(all_definitions()).map_err(Into::into),
        };
        let store = store.context(ADVICE)?;
        let report = verify(&store.snapshot()?)?;
        let (entries, postings) = (report.entries, report.postings);
        Ok(ContentReport {
            summary: format!(
                "entries: {entries} are compared with names, counts, the log of changes and \
                 {postings} postings of indexes"
            ),
            problems: report.problems,
        })
    }

    fn is_configured(&self) -> bool {
        let ConfigFlags {
            config,
            slapd_conf,
            slapd_dir,
        } = self.config;
        config.is_some() || slapd_conf.is_some() || slapd_dir.is_some()
    }

    /// Opens the store with the schema of the flags, or of slapd's installed configuration.
    fn open_configured(&self) -> anyhow::Result<Store> {
        let installed = || slapd_places::installed_for(&self.directory, &mut |_, _| {});
        let settings = match installed().filter(|_| !self.is_configured()) {
            Some(place) => Settings::new(slapd_places::layer_at(&place)?)?,
            None => self.config.settings()?,
        };
        Ok(self.open(fulgurite_server::schema(&settings)?)?)
    }

    fn open(&self, schema: Schema) -> Result<Store, OpenError> {
        let options = StoreOptions {
            read_only: true,
            no_lock: !self.has_lock,
            ..StoreOptions::default()
        };
        Store::open(&self.directory, &options, Arc::new(schema))
    }
}

/// Returns all built-in definitions, except of parts that contradict others.
pub(super) fn all_definitions() -> Schema {
    let build = |parts: &[Builtin]| {
        let builder = parts
            .iter()
            .fold(SchemaBuilder::new(), |builder, part| builder.builtin(*part));
        builder.build()
    };
    let mut parts = Vec::new();
    for part in Builtin::ALL {
        parts.push(part);
        if build(&parts).is_err() {
            parts.pop();
        }
    }
    build(&parts).unwrap_or_else(|error| unreachable!("each part was tried: {error}"))
}
