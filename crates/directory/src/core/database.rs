//! One database: a store with its root, rules, limits and restrictions.
//!
//! ```text
//!   dc=example,dc=com            the superior database
//!    |-- ou=people               an entry of it
//!    `-- ou=eu                   another database; `subordinate` makes searches of the superior continue in it
//! ```
//!
//! Suffixes may nest. A name belongs to the database with the most specific suffix.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite_access::{Decisions, RuleText, Rules, WithoutRules};
use fulgurite_policy::{OverlaySettings, Restrictions, Subordinate, Syncrepl};
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, Filter, Schema};
use fulgurite_store::{EntryId, Scope, Store, StoreError, View};

use crate::core::cookie::CookieKey;
use crate::core::dynamic_lists::DynamicLists;
use crate::core::error::OpenError;
use crate::core::limits::{CompiledLimits, Limits};
use crate::core::membership::Memberships;
use crate::core::replication::{Forwarding, Replication, ReplicationOptions};
use crate::core::requester::decide;
use crate::core::session::{Identity, Name, Session};
use crate::core::value_order::ValueOrders;
use crate::core::well_known_types::WellKnownTypes;

/// The root account of a database.
#[derive(Clone)]
pub struct RootAccount {
    /// The name. The entry need not exist.
    pub dn: String,
    /// The password, in clear or as `{SCHEME}...`. Without it, the password of the entry counts.
    pub password: Option<Vec<u8>>,
}

/// The options of a database.
#[derive(Debug)]
pub struct DatabaseOptions {
    /// The store, opened with the directory's schema. Its suffixes are those of the database.
    pub store: Arc<Store>,
    /// The way it is glued to the database with the next higher suffix.
    pub subordinate: Subordinate,
    /// True if no name leads to the database and the root DSE does not list it.
    pub hidden: bool,
    /// The overlays, in the order of the configuration.
    pub overlays: Vec<OverlaySettings>,
    /// The account that passes every rule and limit of this database.
    pub root: Option<RootAccount>,
    /// The access rules in the language of [`Rules::parse`]. The directory's rules follow them.
    pub access: Vec<RuleText>,
    /// The limits of searches; `None` for the directory's limits.
    pub limits: Option<Limits>,
    /// The operations that this database refuses.
    pub restrictions: Restrictions,
    /// The providers it is copied from.
    pub replication: ReplicationOptions,
    /// True if entries record who created and changed them, and when.
    pub last_mod: bool,
    /// Seconds after which another successful bind is recorded; `None` to record none.
    pub last_bind_s: Option<u32>,
    /// True if adding an entry needs the right to add each of its values.
    pub add_content_acl: bool,
    /// The number of aliases that one lookup follows at most.
    pub max_deref_depth: u32,
    /// The number of candidates a search examines in one snapshot before it takes a newer one; 0
    /// for no bound. Updates cannot reuse pages that a snapshot holds.
    pub snapshot_candidates_max: u64,
    /// The number of values that dynamic lists add to one entry at most.
    pub expanded_max: usize,
    /// The number of entries that one tree delete removes at most. Other updates wait for it, and
    /// its transaction is in memory.
    pub tree_delete_max: usize,
}

/// The options that all databases share.
pub(crate) struct SharedOptions<'o> {
    pub(crate) schema: &'o Arc<Schema>,
    /// The rules that follow those of each database.
    pub(crate) access: &'o [RuleText],
    pub(crate) without_rules: WithoutRules,
    /// The limits of databases without limits.
    pub(crate) limits: &'o Limits,
}

impl SharedOptions<'_> {
    /// Parses the rules of a database, and the shared ones after them.
    pub(crate) fn rules(&self, access: &[RuleText]) -> Result<Rules, OpenError> {
        let texts = access.iter().chain(self.access);
        Ok(Rules::parse(self.schema, texts, self.without_rules)?)
    }

    /// Compiles the limits of a database, or the shared ones.
    pub(crate) fn limits(&self, limits: Option<Limits>) -> Result<CompiledLimits, OpenError> {
        CompiledLimits::new(self.schema, limits.unwrap_or_else(|| self.limits.clone()))
    }
}

/// A database that is open.
#[derive(Debug)]
pub struct Database {
    /// Its place among the databases.
    pub(crate) number: usize,
    pub(crate) store: Arc<Store>,
    pub(crate) subordinate: Subordinate,
    pub(crate) hidden: bool,
    pub(crate) root: Option<Root>,
    pub(crate) rules: Rules,
    pub(crate) limits: CompiledLimits,
    pub(crate) restrictions: Restrictions,
    pub(crate) replication: Replication,
    pub(crate) last_mod: bool,
    pub(crate) add_content_acl: bool,
    pub(crate) max_deref_depth: u32,
    pub(crate) snapshot_candidates_max: u64,
    /// The attributes that list groups. A feature sets them.
    pub(crate) memberships: Memberships,
    /// The name of the log at the top of which the changes are. A feature sets it.
    pub(crate) audit_context: Option<Dn>,
    /// The dynamic lists. A feature sets them.
    pub(crate) lists: Option<Box<DynamicLists>>,
    pub(crate) expanded_max: usize,
    pub(crate) tree_delete_max: usize,
    /// The order in which values are shown. A feature sets it.
    pub(crate) value_orders: ValueOrders,
    /// Authenticates cookies of paged searches.
    pub(crate) cookie_key: CookieKey,
    /// The number of the thread that applies updates. It stays in the next configuration.
    pub(crate) writer: usize,
    /// The number of the thread that forwards updates of a copy.
    pub(crate) forwarder: usize,
    kinds: SpecialClassCache,
}

/// The classes with special meaning that a state of the store has entries of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpecialClasses {
    pub(crate) referrals: bool,
    pub(crate) subentries: bool,
    pub(crate) glue: bool,
}

impl SpecialClasses {
    /// Returns true if there are entries of any of them.
    pub(crate) fn any(self) -> bool {
        self.referrals || self.subentries || self.glue
    }
}

/// The special classes of the state examined last. One atomic word holds the state's number and a
/// bit for each class.
///
/// Most databases have neither class, and most searches see the state that the search before saw.
#[derive(Debug)]
struct SpecialClassCache(AtomicU64);

impl SpecialClassCache {
    fn of(&self, state: u64) -> Option<SpecialClasses> {
        let word = self.0.load(Ordering::Relaxed);
        (word >> 3 == state).then_some(SpecialClasses {
            referrals: word & 1 != 0,
            subentries: word & 2 != 0,
            glue: word & 4 != 0,
        })
    }

    fn keep(&self, state: u64, kinds: SpecialClasses) {
        let bits = u64::from(kinds.referrals)
            | u64::from(kinds.subentries) << 1
            | u64::from(kinds.glue) << 2;
        self.0.store(state << 3 | bits, Ordering::Relaxed);
    }
}

/// A root account with a parsed name.
#[derive(Clone)]
pub(crate) struct Root {
    pub(crate) name: Name,
    pub(crate) password: Option<Vec<u8>>,
}

// Neither form for display shows the password.

impl std::fmt::Debug for RootAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RootAccount")
            .field("dn", &self.dn)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Root")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl DatabaseOptions {
    /// Makes options with every value at its default.
    #[must_use]
    pub fn new(store: impl Into<Arc<Store>>) -> DatabaseOptions {
        DatabaseOptions {
            store: store.into(),
            subordinate: Subordinate::No,
            hidden: false,
            overlays: Vec::new(),
            root: None,
            access: Vec::new(),
            limits: None,
            restrictions: Restrictions::default(),
            replication: ReplicationOptions::default(),
            last_mod: true,
            last_bind_s: None,
            add_content_acl: false,
            max_deref_depth: 15,
            snapshot_candidates_max: 10_000,
            expanded_max: 100_000,
            tree_delete_max: 100_000,
        }
    }
}

impl From<Store> for DatabaseOptions {
    fn from(store: Store) -> DatabaseOptions {
        DatabaseOptions::new(store)
    }
}

impl Database {
    pub(crate) fn open(
        number: usize,
        options: DatabaseOptions,
        shared: &SharedOptions<'_>,
        cookie_key: impl Fn(&Store) -> CookieKey,
    ) -> Result<Database, OpenError> {
        let schema = shared.schema;
        let root = options.root;
        let root = root.map(|account| Root::resolve(schema, account));
        Ok(Database {
            number,
            writer: number,
            forwarder: number,
            rules: shared.rules(&options.access)?,
            root: root.transpose()?,
            limits: shared.limits(options.limits)?,
            cookie_key: cookie_key(&options.store),
            store: options.store,
            subordinate: options.subordinate,
            hidden: options.hidden,
            restrictions: options.restrictions,
            replication: Replication::open(schema, options.replication)?,
            last_mod: options.last_mod,
            add_content_acl: options.add_content_acl,
            max_deref_depth: options.max_deref_depth,
            snapshot_candidates_max: options.snapshot_candidates_max,
            memberships: Memberships::default(),
            audit_context: None,
            lists: None,
            expanded_max: options.expanded_max,
            tree_delete_max: options.tree_delete_max,
            value_orders: ValueOrders::default(),
            // No state has this number.
            kinds: SpecialClassCache(AtomicU64::new(u64::MAX)),
        })
    }

    /// Returns the special classes that a state of the store has entries of; `top` is one of its
    /// entries.
    pub(crate) fn special_classes(
        &self,
        view: &View<'_>,
        types: &WellKnownTypes,
        top: EntryId,
    ) -> Result<SpecialClasses, StoreError> {
        let state = view.state();
        if let Some(kinds) = self.kinds.of(state) {
            return Ok(kinds);
        }
        // Below `top` there may be none, but the plan counts some as long as the index has any.
        let any = |class: &Filter<AttributeSelector>| {
            let plan = view.plan(top, Scope::Subtree, class)?;
            Ok::<_, StoreError>(plan.count_max() > 0)
        };
        // Each referral object has `ref`, and each subentry `subtreeSpecification`. A store that
        // does not know the attribute has none of them, which needs no index.
        let schema = self.store.schema();
        let knows = |attribute: &AttributeDescription| {
            !view.attributes().covered(schema, attribute).is_empty()
        };
        let specification = types.subtree_specification.as_ref();
        let kinds = SpecialClasses {
            referrals: knows(&types.reference) && any(&types.referral_filter)?,
            subentries: specification.is_some_and(knows) && any(&types.subentry_filter)?,
            glue: any(&types.glue_filter)?,
        };
        self.kinds.keep(state, kinds);
        Ok(kinds)
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the store, shared.
    #[must_use]
    pub fn shared_store(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    /// Returns the names at the top of its trees.
    #[must_use]
    pub fn suffixes(&self) -> &[Dn] {
        self.store.suffixes()
    }

    /// Returns the providers that the database is copied from.
    #[must_use]
    pub fn consumers(&self) -> &[Syncrepl] {
        &self.replication.consumers
    }

    /// Returns true if clients may update a copy.
    #[must_use]
    pub fn is_multi_provider(&self) -> bool {
        self.replication.multi_provider
    }

    /// Returns the servers that clients' updates of a copy go to, if they are forwarded.
    #[must_use]
    pub fn forwarding(&self) -> Option<&Forwarding> {
        let replication = &self.replication;
        let forwarding = replication.forwarding.as_ref();
        forwarding.filter(|_| replication.is_shadow())
    }

    /// Returns the most specific suffix at or above the name.
    pub(crate) fn suffix_of(&self, dn: &Dn) -> Option<&Dn> {
        let suffixes = self.suffixes().iter();
        suffixes
            .filter(|suffix| dn.is_within(suffix))
            .max_by_key(|suffix| suffix.depth())
    }

    /// Returns true if the session's identity passes every rule and limit of this database.
    #[must_use]
    pub fn is_root(&self, session: &Session) -> bool {
        Root::is(self.root.as_ref(), session)
    }

    /// Decides what the session may do in this database.
    pub(crate) fn decisions(&self, session: &Session) -> Decisions<'_> {
        decide(&self.rules, session, self.is_root(session))
    }
}

impl Root {
    pub(crate) fn resolve(schema: &Schema, account: RootAccount) -> Result<Root, OpenError> {
        let dn = Dn::parse(schema, &account.dn).map_err(|source| OpenError::RootDn {
            dn: account.dn,
            source,
        })?;
        Ok(Root {
            name: Name::from(&dn),
            password: account.password,
        })
    }

    /// Returns true if the session's identity is this root.
    pub(crate) fn is(root: Option<&Root>, session: &Session) -> bool {
        match (root, session.identity()) {
            (Some(root), Identity::User(name)) => root.name == *name,
            _ => false,
        }
    }
}
