//! Databases whose entries the server makes up on the spot: the monitor and the configuration.
//!
//! A [`TreeSource`] gives entries as names and values; from there on they are entries like all others, with filters,
//! rules and limits. Nobody changes them by LDAP.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use fulgurite_access::{Decisions, RuleText, Rules, WithoutRules};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_policy::Restrictions;
use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};

use crate::core::database::{Root, RootAccount};
use crate::core::error::OpenError;
use crate::core::limits::{CompiledLimits, Limits};
use crate::core::requester::decide;
use crate::core::result::refuse;
use crate::core::session::Session;

/// What a database of made-up entries is made of.
#[derive(Clone)]
pub struct TreeOptions {
    /// Where the entries come from.
    pub source: Arc<dyn TreeSource>,
    /// Who passes every rule and limit of this database.
    pub root: Option<RootAccount>,
    /// Access rules of its own; the directory's follow them.
    pub access: Vec<RuleText>,
    /// Limits of searches; the directory's where there are none.
    pub limits: Option<Limits>,
    /// What may not be done here.
    pub restrictions: Restrictions,
}

/// An entry made up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its name.
    pub dn: String,
    /// Attribute descriptions with their values. What the schema does not define is left out.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
    /// A count that grows while entries are returned.
    pub counter: Option<SentCounter>,
}

/// A count of what the server has sent: the entry that shows it counts those that the same search returned before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCounter {
    /// The attribute.
    pub attribute: String,
    /// What has been sent before the search.
    pub before: u64,
    /// Whether octets are counted, instead of messages.
    pub bytes: bool,
}

/// Makes up entries.
pub trait TreeSource: Send + Sync {
    /// The name at the top.
    fn suffix(&self) -> &str;

    /// The entries at and below `base`, a name in normal form, and those above it: every entry after its superior.
    /// More than these do no harm but cost time.
    fn entries(&self, base: &str) -> Vec<TreeEntry>;
}

/// An entry made up, with its count if it grows.
pub(crate) struct GeneratedEntry {
    pub(crate) entry: Entry,
    counter: Option<(AttributeDescription, SentCounter)>,
}

/// A database of made-up entries in use.
pub(crate) struct Tree {
    pub(crate) suffix: Dn,
    pub(crate) root: Option<Root>,
    pub(crate) rules: Rules,
    pub(crate) limits: CompiledLimits,
    pub(crate) restrictions: Restrictions,
    source: Arc<dyn TreeSource>,
}

impl TreeOptions {
    /// A database with everything at its default.
    #[must_use]
    pub fn new(source: Arc<dyn TreeSource>) -> TreeOptions {
        TreeOptions {
            source,
            root: None,
            access: Vec::new(),
            limits: None,
            restrictions: Restrictions::default(),
        }
    }
}

impl TreeEntry {
    /// An entry without attributes.
    #[must_use]
    pub fn new(dn: impl Into<String>) -> TreeEntry {
        TreeEntry {
            dn: dn.into(),
            attributes: Vec::new(),
            counter: None,
        }
    }

    /// The entry with a count of messages sent, or of octets.
    #[must_use]
    pub fn counting_sent(mut self, attribute: &str, before: u64, bytes: bool) -> TreeEntry {
        self.counter = Some(SentCounter {
            attribute: attribute.to_owned(),
            before,
            bytes,
        });
        self.with(attribute, [before.to_string()])
    }

    /// The entry with one attribute more; no values mean no attribute.
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
        schema: &Arc<Schema>,
        access: &[RuleText],
        without_rules: WithoutRules,
        limits: &Limits,
    ) -> Result<Tree, OpenError> {
        let texts = options.access.iter().chain(access);
        let root = options.root;
        let root = root.map(|account| Root::resolve(schema, account));
        let suffix = options.source.suffix();
        Ok(Tree {
            suffix: Dn::parse(schema, suffix).map_err(|source| OpenError::RootDn {
                dn: suffix.to_owned(),
                source,
            })?,
            rules: Rules::parse(schema, texts, without_rules)?,
            root: root.transpose()?,
            limits: CompiledLimits::new(schema, options.limits.unwrap_or_else(|| limits.clone()))?,
            restrictions: options.restrictions,
            source: options.source,
        })
    }

    pub(crate) fn is_root(&self, session: &Session) -> bool {
        Root::is(self.root.as_ref(), session)
    }

    pub(crate) fn decisions(&self, session: &Session) -> Decisions<'_> {
        decide(&self.rules, session, self.is_root(session))
    }

    /// The refusal of every change.
    pub(crate) fn read_only(&self) -> LdapResult {
        refuse(
            ResultCode::UnwillingToPerform,
            "operation not supported within namingContext",
        )
    }

    /// The entries at, below and above a base, each after its superior.
    pub(crate) fn entries(&self, schema: &Schema, base: &Dn) -> Vec<GeneratedEntry> {
        let made = self.source.entries(base.normal());
        let resolved = made.into_iter().filter_map(|entry| resolve(schema, entry));
        let mut entries: Vec<GeneratedEntry> = resolved.collect();
        finish(schema, &mut entries);
        entries
    }

    /// One entry.
    pub(crate) fn entry(&self, schema: &Schema, dn: &Dn) -> Option<Entry> {
        let entries = self.entries(schema, dn).into_iter();
        let mut entries = entries.map(|made| made.entry);
        entries.find(|entry| entry.dn == *dn)
    }
}

impl GeneratedEntry {
    /// Brings the count up to what has been returned before: so many entries, in so many octets.
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

/// Adds what follows from names and neighbours.
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
