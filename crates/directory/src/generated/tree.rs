//! Databases of generated entries: the monitor and the configuration.
//!
//! A [`TreeSource`] gives names and values. Filters, rules and limits treat its entries like stored
//! ones. The owner of the source carries out [changes](crate::TreeUpdate), or refuses them all.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use fulgurite_access::{Decisions, RuleText, Rules};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_policy::Restrictions;
use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::OperationLog;

use crate::core::database::{Root, RootAccount, SharedOptions};
use crate::core::error::OpenError;
use crate::core::limits::{CompiledLimits, Limits};
use crate::core::requester::decide;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::generated::access_log::{AccessLog, LoggedStore};

/// The options of a database of generated entries.
#[derive(Clone)]
pub struct TreeOptions {
    /// The source of the entries.
    pub source: Arc<dyn TreeSource>,
    /// The account that passes every rule and limit of this database.
    pub root: Option<RootAccount>,
    /// Access rules. The directory's rules follow them.
    pub access: Vec<RuleText>,
    /// The limits of searches; `None` for the directory's limits.
    pub limits: Option<Limits>,
    /// The operations that this database refuses.
    pub restrictions: Restrictions,
    /// The reason why no entry can change; `None` if their owner carries out changes.
    pub refusal: Option<String>,
    /// True if consumers may copy the entries (slapd's overlay `syncprov` of the database).
    pub provides: bool,
}

/// A generated entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its name.
    pub dn: String,
    /// Attribute descriptions with values. Descriptions that the schema lacks are ignored.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
    /// A count of sent messages that the search itself increases.
    pub counter: Option<SentCounter>,
}

/// A count of what the server has sent, including the entries that the same search returned before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCounter {
    /// The attribute.
    pub attribute: String,
    /// The count before the search.
    pub before: u64,
    /// True for a count of bytes, false for a count of messages.
    pub bytes: bool,
}

/// Generates entries.
pub trait TreeSource: Send + Sync {
    /// Returns the name at the top.
    fn suffix(&self) -> &str;

    /// Returns the entries at, below and above `base`, a name in normal form; each entry follows
    /// its superior.
    ///
    /// More entries do no harm but cost time.
    fn entries(&self, base: &str) -> Vec<TreeEntry>;

    /// Ends the activity that an entry shows, a name in normal form. Returns false if the entry
    /// shows none that can end: then nobody can delete it.
    fn end(&self, entry: &str, is_trial: bool) -> bool {
        let _ = (entry, is_trial);
        false
    }
}

/// A generated entry with its counter.
pub(crate) struct GeneratedEntry {
    pub(crate) entry: Entry,
    counter: Option<(AttributeDescription, SentCounter)>,
}

/// The options of a tree that shows logs of changes (slapd's overlay `accesslog`). Overlays of
/// databases name it.
#[derive(Clone, Debug)]
pub struct AccessLogOptions {
    /// The name at the top.
    pub suffix: String,
    /// The account that passes every rule and limit. It is the author of all entries.
    pub root: Option<RootAccount>,
    /// Access rules. The directory's rules follow them.
    pub access: Vec<RuleText>,
    /// The limits of searches; `None` for the directory's limits.
    pub limits: Option<Limits>,
    /// The operations that it refuses.
    pub restrictions: Restrictions,
    /// True if consumers may follow it (slapd's overlay `syncprov` of the log's database).
    pub provides: bool,
    /// The folder of the log of operations that are no changes. Without it there is none.
    pub folder: Option<PathBuf>,
}

impl AccessLogOptions {
    /// Makes options with every value at its default.
    #[must_use]
    pub fn new(suffix: impl Into<String>) -> AccessLogOptions {
        AccessLogOptions {
            suffix: suffix.into(),
            root: None,
            access: Vec::new(),
            limits: None,
            restrictions: Restrictions::default(),
            provides: false,
            folder: None,
        }
    }
}

/// The origin of the entries of a tree.
enum TreeContent {
    Source(Arc<dyn TreeSource>),
    Log(AccessLog),
}

/// A database of generated entries that is open.
pub(crate) struct Tree {
    pub(crate) suffix: Dn,
    pub(crate) root: Option<Root>,
    pub(crate) rules: Rules,
    pub(crate) limits: CompiledLimits,
    pub(crate) restrictions: Restrictions,
    pub(crate) refusal: Option<String>,
    /// True if consumers may follow the log that it shows, or copy its entries.
    provides: bool,
    content: TreeContent,
}

impl TreeOptions {
    /// Makes options with every value at its default.
    #[must_use]
    pub fn new(source: Arc<dyn TreeSource>) -> TreeOptions {
        TreeOptions {
            source,
            root: None,
            access: Vec::new(),
            limits: None,
            restrictions: Restrictions::default(),
            refusal: Some("operation not supported within namingContext".to_owned()),
            provides: false,
        }
    }
}

impl TreeEntry {
    /// Makes an entry without attributes.
    #[must_use]
    pub fn new(dn: impl Into<String>) -> TreeEntry {
        TreeEntry {
            dn: dn.into(),
            attributes: Vec::new(),
            counter: None,
        }
    }

    /// Adds a count of messages sent, or of bytes.
    #[must_use]
    pub fn counting_sent(mut self, attribute: &str, before: u64, bytes: bool) -> TreeEntry {
        self.counter = Some(SentCounter {
            attribute: attribute.to_owned(),
            before,
            bytes,
        });
        self.with(attribute, [before.to_string()])
    }

    /// Adds an attribute unless it has no values.
    #[must_use]
    pub fn with(mut self, name: &str, values: impl IntoIterator<Item: Into<Vec<u8>>>) -> TreeEntry {
        let values: Vec<Vec<u8>> = values.into_iter().map(Into::into).collect();
        if !values.is_empty() {
            self.attributes.push((name.to_owned(), values));
        }
        self
    }
}

impl std::fmt::Debug for TreeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeOptions")
            .field("suffix", &self.source.suffix())
            .finish_non_exhaustive()
    }
}

impl Tree {
    pub(crate) fn open(
        options: TreeOptions,
        shared: &SharedOptions<'_>,
    ) -> Result<Tree, OpenError> {
        let schema = shared.schema;
        let root = options.root;
        let root = root.map(|account| Root::resolve(schema, account));
        let suffix = options.source.suffix();
        Ok(Tree {
            suffix: Dn::parse(schema, suffix).map_err(|source| OpenError::RootDn {
                dn: suffix.to_owned(),
                source,
            })?,
            rules: shared.rules(&options.access)?,
            root: root.transpose()?,
            limits: shared.limits(options.limits)?,
            restrictions: options.restrictions,
            refusal: options.refusal,
            provides: options.provides,
            content: TreeContent::Source(options.source),
        })
    }

    /// Opens the tree of the logs of some stores, and of one of other operations.
    pub(crate) fn open_log(
        (options, suffix): (AccessLogOptions, Dn),
        (stores, operations): (Vec<LoggedStore>, Option<Arc<OperationLog>>),
        server: u16,
        shared: &SharedOptions<'_>,
    ) -> Result<Tree, OpenError> {
        let author = options.root.as_ref().map(|root| root.dn.clone());
        let root = options.root;
        let root = root.map(|account| Root::resolve(shared.schema, account));
        Ok(Tree {
            rules: shared.rules(&options.access)?,
            root: root.transpose()?,
            limits: shared.limits(options.limits)?,
            restrictions: options.restrictions,
            refusal: Some("the log of changes cannot be modified".to_owned()),
            provides: options.provides,
            content: TreeContent::Log(AccessLog::new(
                suffix.clone(),
                stores,
                operations,
                (author, server),
            )),
            suffix,
        })
    }

    /// Returns the logs of changes that the tree shows.
    pub(crate) fn log(&self) -> Option<&AccessLog> {
        match &self.content {
            TreeContent::Source(_) => None,
            TreeContent::Log(log) => Some(log),
        }
    }

    /// Replaces the log of operations by an open one of the same file.
    pub(crate) fn share_operations(&mut self, open: &Arc<OperationLog>) {
        if let TreeContent::Log(log) = &mut self.content {
            log.share_operations(open);
        }
    }

    /// Returns the logs of changes that consumers may follow here.
    pub(crate) fn provided_log(&self) -> Option<&AccessLog> {
        self.log().filter(|_| self.provides)
    }

    /// Returns true if consumers may copy the entries.
    pub(crate) fn provides_entries(&self) -> bool {
        self.provides && self.log().is_none()
    }

    pub(crate) fn is_root(&self, session: &Session) -> bool {
        Root::is(self.root.as_ref(), session)
    }

    pub(crate) fn decisions(&self, session: &Session) -> Decisions<'_> {
        decide(&self.rules, session, self.is_root(session))
    }

    /// Ends the activity that an entry shows; see [`TreeSource::end`].
    pub(crate) fn end(&self, dn: &Dn, is_trial: bool) -> bool {
        match &self.content {
            TreeContent::Source(source) => source.end(dn.normal(), is_trial),
            TreeContent::Log(_) => false,
        }
    }

    /// Returns the refusal of an update that does not go to the owner.
    pub(crate) fn read_only(&self) -> LdapResult {
        let text = self.refusal.as_deref().unwrap_or("only single updates");
        refuse(ResultCode::UnwillingToPerform, text)
    }

    /// Returns the entries at, below and above a base; each entry follows its superior. Of a log of
    /// changes it returns the entries at and above only.
    pub(crate) fn entries(&self, schema: &Schema, base: &Dn) -> OpResult<Vec<GeneratedEntry>> {
        match &self.content {
            TreeContent::Source(source) => Ok(entries_of(&**source, schema, base)),
            TreeContent::Log(log) => {
                let top = log.top(schema).map_err(|error| result::store(&error))?;
                let below = match *base == log.suffix {
                    true => None,
                    false => log
                        .find(schema, base)
                        .map_err(|error| result::store(&error))?,
                };
                let entries = [Some(top), below].into_iter().flatten();
                Ok(entries.map(GeneratedEntry::plain).collect())
            }
        }
    }

    /// Returns one entry.
    pub(crate) fn entry(&self, schema: &Schema, dn: &Dn) -> OpResult<Option<Entry>> {
        let entries = self.entries(schema, dn)?.into_iter();
        let mut entries = entries.map(|made| made.entry);
        Ok(entries.find(|entry| entry.dn == *dn))
    }
}

/// Returns the entries of a source, with computed attributes.
fn entries_of(source: &dyn TreeSource, schema: &Schema, base: &Dn) -> Vec<GeneratedEntry> {
    let made = source.entries(base.normal());
    let resolved = made.into_iter().filter_map(|entry| resolve(schema, entry));
    let mut entries: Vec<GeneratedEntry> = resolved.collect();
    finish(schema, &mut entries);
    entries
}

impl GeneratedEntry {
    /// Returns an entry without a counter.
    pub(crate) fn plain(entry: Entry) -> GeneratedEntry {
        GeneratedEntry {
            entry,
            counter: None,
        }
    }

    /// Adds the entries and bytes that the search has sent so far to the counter.
    pub(crate) fn count_sent(&mut self, entries: u32, bytes: usize) {
        if let Some((attribute, counter)) = &self.counter {
            let more = if counter.bytes {
                bytes as u64
            } else {
                u64::from(entries)
            };
            let count = counter.before.saturating_add(more);
            if let Some(held) = self.entry.attribute_mut(attribute) {
                held.values = vec![count.to_string().into_bytes()];
            }
        }
    }
}

fn resolve(schema: &Schema, made: TreeEntry) -> Option<GeneratedEntry> {
    let mut entry = Entry::new(Dn::parse(schema, &made.dn).ok()?);
    let counter = made.counter.and_then(|counter| {
        let attribute = schema.describe(counter.attribute.as_bytes()).ok()?;
        Some((attribute, counter))
    });
    for (name, values) in made.attributes {
        if let Ok(description) = schema.describe(name.as_bytes()) {
            entry.set(&description, values);
        }
    }
    Some(GeneratedEntry { entry, counter })
}

/// Sets the computed attributes.
fn finish(schema: &Schema, entries: &mut [GeneratedEntry]) {
    let describe = |name: &str| {
        let attribute = schema.attribute(name)?;
        Some(AttributeDescription::plain(attribute.index))
    };
    let known: HashMap<&str, AttributeDescription> =
        ["entryDN", "subschemaSubentry", "hasSubordinates"]
            .into_iter()
            .filter_map(|name| Some((name, describe(name)?)))
            .collect();
    let parents: HashSet<String> = entries
        .iter()
        .filter_map(|made| Some(made.entry.dn.parent()?.normal().to_owned()))
        .collect();
    for GeneratedEntry { entry, .. } in entries {
        let has_children: &[u8] = if parents.contains(entry.dn.normal()) {
            b"TRUE"
        } else {
            b"FALSE"
        };
        let values = [
            ("entryDN", entry.dn.pretty().as_bytes().to_vec()),
            ("subschemaSubentry", b"cn=Subschema".to_vec()),
            ("hasSubordinates", has_children.to_vec()),
        ];
        for (name, value) in values {
            if let Some(description) = known.get(name) {
                entry.set(description, vec![value]);
            }
        }
    }
}
