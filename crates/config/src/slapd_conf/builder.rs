//! A layer that statements fill one by one, and the part of the configuration that they are in.

use fulgurite_policy::{BuiltinSchema, DatabaseKind, OverlayLine, OverlaySettings};

use crate::database::DatabaseLayer;
use crate::statement::{Section, Statement};
use crate::survey::Survey;
use crate::table::{AnyRow, PolicyLayer};
use crate::{ConfigError, Layer, Note, Origin, Sourced};

/// The place in the layer that statements go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Frontend,
    Backend,
    Config,
    /// The database of that number.
    Database(usize),
}

/// A layer that statements of slapd fill.
pub(crate) struct LayerBuilder {
    pub(crate) layer: Layer,
    position: Position,
    /// A database has been named, if only the frontend.
    declared: bool,
    /// Errors of the statements so far, if reading goes on after an error.
    refusals: Option<Vec<ConfigError>>,
    /// Numbers of the databases that hdb or bdb has served.
    berkeley: Vec<usize>,
    /// Receives settings of the frontend that have no meaning there.
    unused: DatabaseLayer,
}

impl LayerBuilder {
    /// Returns a layer with slapd's defaults where this server's differ.
    pub(crate) fn new() -> LayerBuilder {
        let mut layer = Layer {
            slapd: true,
            declares_databases: true,
            ..Layer::default()
        };
        let global = &mut layer.global;
        global.schema_builtin = Some(Sourced::by_default(BuiltinSchema::System));
        global.request_bytes_anonymous = Some(Sourced::by_default(262_143));
        global.request_bytes = Some(Sourced::by_default(16_777_215));
        // It matters to a slapd that gets the directory back, with its indexes.
        global.index_hash64 = Some(Sourced::by_default(false));
        LayerBuilder {
            layer,
            position: Position::Frontend,
            declared: false,
            refusals: None,
            berkeley: Vec::new(),
            unused: DatabaseLayer::default(),
        }
    }

    /// Lets reading go on after errors, and collects them.
    pub(crate) fn collecting(mut self) -> LayerBuilder {
        self.refusals = Some(Vec::new());
        self
    }

    /// Returns the layer and the collected errors.
    pub(crate) fn into_survey(self) -> Survey {
        Survey {
            layer: self.layer,
            refusals: self.refusals.unwrap_or_default(),
        }
    }

    /// Returns the error of a statement, or collects it. In the second case the statement has no
    /// effect.
    pub(crate) fn settle(&mut self, outcome: Result<(), ConfigError>) -> Result<(), ConfigError> {
        match (outcome, &mut self.refusals) {
            (Err(error), Some(refusals)) => {
                refusals.push(error);
                Ok(())
            }
            (outcome, _) => outcome,
        }
    }

    /// Returns true if reading goes on after errors.
    pub(crate) fn collects(&self) -> bool {
        self.refusals.is_some()
    }

    /// Returns true if a database has begun, if only the frontend.
    pub(crate) fn has_databases(&self) -> bool {
        self.declared || !self.layer.databases.is_empty()
    }

    /// Returns the part of the configuration.
    pub(crate) fn section(&self) -> Section {
        match self.position {
            Position::Frontend => Section::Frontend,
            Position::Backend => Section::Backend,
            Position::Config => Section::Config,
            Position::Database(number) => match self.layer.databases.get(number) {
                Some(database) if database.kind == DatabaseKind::Mdb => Section::Store,
                _ => Section::Monitor,
            },
        }
    }

    /// Begins the frontend.
    pub(crate) fn begin_frontend(&mut self) {
        self.declared = true;
        self.enter_frontend();
    }

    /// Returns to the frontend, as for the settings of the server.
    pub(crate) fn enter_frontend(&mut self) {
        self.position = Position::Frontend;
    }

    /// Begins a backend.
    pub(crate) fn begin_backend(&mut self) {
        self.position = Position::Backend;
    }

    /// Begins the database `cn=config`.
    pub(crate) fn begin_config(&mut self, origin: Origin) {
        self.layer.config.origin = Some(origin);
        self.declared = true;
        self.position = Position::Config;
    }

    /// Begins a database with entries, with slapd's defaults where this server's differ.
    pub(crate) fn begin_database(&mut self, kind: DatabaseKind, origin: Origin) {
        let mut database = DatabaseLayer {
            kind,
            origin: Some(origin),
            ..DatabaseLayer::default()
        };
        database.storage.default_indexes = Some(Sourced::by_default(false));
        // slapd's databases do not inherit these settings of the frontend.
        let all = &self.layer.frontend;
        let default = |is_set: bool, value| is_set.then(|| Sourced::by_default(value));
        let policy = &mut database.policy;
        policy.last_mod = default(all.last_mod.is_some(), true);
        policy.last_bind = default(all.last_bind.is_some(), false);
        policy.add_content_acl = default(all.add_content_acl.is_some(), false);
        let depth = all.max_deref_depth.as_ref();
        policy.max_deref_depth = depth.map(|_| Sourced::by_default(15));
        self.layer.databases.push(database);
        self.declared = true;
        self.position = Position::Database(self.layer.databases.len() - 1);
    }

    /// Begins a database of hdb or bdb, as one of mdb.
    pub(crate) fn begin_berkeley(&mut self, origin: Origin) {
        self.berkeley.push(self.layer.databases.len());
        self.begin_database(DatabaseKind::Mdb, origin);
    }

    /// Returns true in a database of hdb or bdb.
    pub(crate) fn is_in_berkeley(&self) -> bool {
        matches!(self.position, Position::Database(number) if self.berkeley.contains(&number))
    }

    /// Returns the database that statements are about; outside of databases, one that has no
    /// meaning.
    pub(crate) fn database(&mut self) -> &mut DatabaseLayer {
        match self.position {
            Position::Frontend | Position::Backend => &mut self.unused,
            Position::Config => &mut self.layer.config,
            Position::Database(number) => {
                let database = self.layer.databases.get_mut(number);
                database.unwrap_or(&mut self.unused)
            }
        }
    }

    /// Returns the rules that statements are about: those of the database, or of all databases.
    fn policy(&mut self) -> &mut PolicyLayer {
        match self.position {
            Position::Frontend | Position::Backend => &mut self.layer.frontend,
            Position::Config | Position::Database(_) => &mut self.database().policy,
        }
    }

    /// Reads a statement into the field of a row.
    pub(crate) fn take(&mut self, row: AnyRow, statement: &Statement) -> Result<(), String> {
        let mut notes = std::mem::take(&mut self.layer.notes);
        let outcome = match row {
            AnyRow::Global(row) => (row.take)(&mut self.layer.global, statement, &mut notes),
            AnyRow::Policy(row) => (row.take)(self.policy(), statement, &mut notes),
            AnyRow::Content(row) => (row.take)(&mut self.database().content, statement, &mut notes),
            AnyRow::Storage(row) => (row.take)(&mut self.database().storage, statement, &mut notes),
        };
        self.layer.notes = notes;
        outcome
    }

    /// Returns the overlays that statements are about: those of the database, or of all databases.
    pub(crate) fn overlays(&mut self) -> &mut Vec<OverlaySettings> {
        match self.position {
            Position::Frontend | Position::Backend => &mut self.layer.frontend_overlays,
            Position::Config | Position::Database(_) => &mut self.database().overlays,
        }
    }

    /// Adds an overlay.
    pub(crate) fn push_overlay(&mut self, name: &str, origin: &Origin) {
        let overlay = OverlaySettings::new(name, origin.clone());
        self.overlays().push(overlay);
    }

    /// Adds a directive to the overlay added last.
    pub(crate) fn push_overlay_line(&mut self, line: Sourced<OverlayLine>) {
        if let Some(overlay) = self.overlays().last_mut() {
            overlay.lines.push(line);
        }
    }

    /// Notes a setting without effect.
    pub(crate) fn note(&mut self, origin: &Origin, text: String) {
        self.layer.notes.push(Note::new(origin, text));
    }

    /// Warns of an attribute that has no directive. A survey collects it as an error, because it
    /// may be a rule.
    pub(crate) fn unknown_attribute(&mut self, origin: &Origin, name: &str) {
        let text = format!("{name} has no meaning here");
        match &mut self.refusals {
            Some(refusals) => refusals.push(ConfigError::at(origin, text)),
            None => self.warn(origin, text),
        }
    }

    /// Warns of a feature that is missing.
    pub(crate) fn warn(&mut self, origin: &Origin, text: String) {
        self.layer.notes.push(Note::warning(origin, text));
    }
}
