//! The directory: databases, schema, rules and settings under one roof.

use std::sync::{Arc, Mutex};

use fulgurite_access::{Decisions, RuleError, RuleText, Rules, WithoutRules};
use fulgurite_ldap::{LdapResult, ResultCode, Scope};
use fulgurite_policy::{Allow, Disallow, Restrictions, SortLimits, Subordinate};
use fulgurite_schema::{AttributeIndex, Dn, DnError, Schema, normal_is_under};
use fulgurite_store::Store;
use thiserror::Error;

use crate::auth::{Auth, AuthOptions};
use crate::core::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::core::csn::{Csn, CsnGenerator};
use crate::core::database::{Database, DatabaseOptions};
use crate::core::index_advice::Advice;
use crate::core::limits::{CompiledLimits, Limits};
use crate::core::session::Session;
use crate::core::well_known_types::Known;
use crate::features::sssvlv::Sorts;
use crate::generated::root_dse::{Listed, Special};
use crate::generated::tree::{Tree, TreeOptions};
use crate::request::referral;
use crate::rights::facts;
use crate::search::page::CookieKey;

/// What a directory is made of.
pub struct DirectoryOptions {
    /// The databases. Their suffixes are the naming contexts. All stores were opened with `schema`.
    pub databases: Vec<DatabaseOptions>,
    /// The schema.
    pub schema: Arc<Schema>,
    /// Access rules in the language of [`Rules::parse`], which follow those of each database.
    pub access: Vec<RuleText>,
    /// What holds in databases without any rule, their own or the directory's.
    pub without_rules: WithoutRules,
    /// Limits of searches, for databases that have none of their own.
    pub limits: Limits,
    /// What may not be done in any database.
    pub restrictions: Restrictions,
    /// Passwords, SASL and who may act for whom.
    pub auth: AuthOptions,
    /// What is allowed beyond the usual.
    pub allow: Allow,
    /// What is not allowed of the usual.
    pub disallow: Disallow,
    /// URLs of servers that know more: where names outside all databases are sent.
    pub referral: Vec<String>,
    /// Attribute types whose values are stored in their order, by name; names the schema does not know are ignored.
    pub sorted_values: Vec<String>,
    /// Where searches begin that name no base and want more than the root DSE.
    pub default_search_base: Option<String>,
    /// Attributes to add to the root DSE.
    pub root_dse: Vec<(String, Vec<Vec<u8>>)>,
    /// The database `cn=Monitor`.
    pub monitor: Option<TreeOptions>,
    /// The database `cn=config`.
    pub config: Option<TreeOptions>,
    /// Limits of sorted searches.
    pub sort_limits: SortLimits,
    /// What cookies of paged searches are authenticated with. Without one, each store's own
    /// [secret](Store::secret): cookies then outlive the server.
    pub cookie_key: Option<[u8; 32]>,
    /// Number of this server in CSNs, `0..=0xfff`.
    pub server_id: u16,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
}

/// The root of a database.
#[derive(Clone, Debug)]
pub struct RootAccount {
    /// Its name. The entry need not exist.
    pub dn: String,
    /// Its password, in clear or as `{SCHEME}...`. Without one, the password of its entry counts.
    pub password: Option<Vec<u8>>,
}

/// Why a directory cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Two databases have a suffix in common.
    #[error("the suffix {0:?} is that of two databases")]
    SameSuffix(String),
    /// A subordinate database has no database above it.
    #[error("the database {0:?} is subordinate, but no other database has a suffix above it")]
    NoSuperior(String),
    /// The root's name is no name.
    #[error("root DN {dn:?}: {source}")]
    RootDn {
        /// As configured.
        dn: String,
        /// What is wrong with it.
        source: DnError,
    },
    /// Limits are for nobody that can be told.
    #[error("{origin}: limits for {who:?}: {reason}")]
    Limits {
        /// Where they were written.
        origin: String,
        /// Whom they are said to be for.
        who: String,
        /// What is wrong with that.
        reason: String,
    },
    /// The default search base is no name.
    #[error("default search base {dn:?}: {source}")]
    SearchBase {
        /// As configured.
        dn: String,
        /// What is wrong with it.
        source: DnError,
    },
    /// An access rule is wrong.
    #[error(transparent)]
    Access(#[from] RuleError),
    /// The schema lacks an attribute type that operations need.
    #[error("the schema does not define {0}, which the server needs")]
    SchemaLacks(&'static str),
}

/// Answers LDAP operations. Share it by reference between threads: reads do not lock anything.
pub struct Directory {
    pub(crate) schema: Arc<Schema>,
    pub(crate) databases: Vec<Database>,
    /// Databases whose entries the server makes up: the monitor and the configuration.
    pub(crate) trees: Vec<Tree>,
    /// Rules for what is in no database.
    pub(crate) rules: Rules,
    pub(crate) restrictions: Restrictions,
    pub(crate) allow: Allow,
    pub(crate) disallow: Disallow,
    pub(crate) referral: Vec<String>,
    /// Types whose values are stored in the order of their normal forms.
    pub(crate) sorted_values: Vec<AttributeIndex>,
    pub(crate) default_search_base: Option<Dn>,
    pub(crate) limits: CompiledLimits,
    pub(crate) sort_limits: SortLimits,
    /// The sorted searches under way. To be shared with what replaces this directory.
    pub(crate) sorts: Sorts,
    /// Indexes whose lack has been told already. To be shared with what replaces this directory.
    pub(crate) advice: Advice,
    /// Authenticates cookies of paged searches outside all stores. To be handed on to what replaces this directory.
    pub(crate) cookie_key: CookieKey,
    pub(crate) known: Known,
    pub(crate) special: Special,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) auth: Auth,
    /// Taken by whoever applies a batch of writes. Shared with what replaces this directory.
    pub(crate) csn: Arc<Mutex<CsnGenerator>>,
}

/// A part of a search: within one database.
#[derive(Clone, Debug)]
pub(crate) struct Leg<'d> {
    pub(crate) database: &'d Database,
    pub(crate) base: Dn,
    pub(crate) scope: Scope,
}

/// Where a name leads, as far as that can be told without looking at entries.
pub(crate) enum Place<'d> {
    RootDse,
    Subschema,
    /// A database with a store.
    In(&'d Database),
    /// A database whose entries the server makes up.
    Tree(&'d Tree),
    Nowhere,
}

impl DirectoryOptions {
    /// Options with everything at its default.
    #[must_use]
    pub fn new(schema: Arc<Schema>, databases: Vec<DatabaseOptions>) -> DirectoryOptions {
        DirectoryOptions {
            databases,
            schema,
            access: Vec::new(),
            without_rules: WithoutRules::default(),
            limits: Limits::default(),
            restrictions: Restrictions::default(),
            auth: AuthOptions::default(),
            allow: Allow::default(),
            disallow: Disallow::default(),
            referral: Vec::new(),
            sorted_values: Vec::new(),
            default_search_base: None,
            root_dse: Vec::new(),
            monitor: None,
            config: None,
            sort_limits: SortLimits::default(),
            cookie_key: None,
            server_id: 0,
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(SystemEntropy),
        }
    }
}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`OpenError`], each a mistake in the options.
    pub fn open(options: DirectoryOptions) -> Result<Directory, OpenError> {
        let schema = options.schema;
        let known = Known::of(&schema)?;
        let rules = Rules::parse(&schema, &options.access, options.without_rules)?;
        let without = options.without_rules;
        let made_up = || made_up_key(&*options.entropy);
        let cookie_key = |store: &Store| match options.cookie_key {
            Some(key) => key,
            // A store that cannot be written to has no server that would go on with its pages.
            None => store.secret(made_up).unwrap_or_else(|_| made_up()),
        };
        let databases = options.databases.into_iter().map(|database| {
            let (access, limits) = (&options.access, &options.limits);
            Database::open(database, &schema, access, without, limits, cookie_key)
        });
        let databases = databases.collect::<Result<Vec<_>, _>>()?;
        check_suffixes(&databases)?;
        let listed = databases
            .iter()
            .filter(|database| !database.hidden && database.subordinate != Subordinate::Glued);
        let context =
            |tree: &Option<TreeOptions>| tree.as_ref().map(|tree| tree.source.suffix().to_owned());
        let (monitor, config) = (context(&options.monitor), context(&options.config));
        let trees = [options.monitor, options.config].into_iter().flatten();
        let trees =
            trees.map(|tree| Tree::open(tree, &schema, &options.access, without, &options.limits));
        let listed = Listed {
            naming_contexts: listed
                .flat_map(Database::suffixes)
                .map(Dn::pretty)
                .collect(),
            monitor: monitor.as_deref(),
            config: config.as_deref(),
            additions: &options.root_dse,
        };
        let default_search_base = options.default_search_base;
        let default_search_base = default_search_base.map(|base| {
            Dn::parse(&schema, &base).map_err(|source| OpenError::SearchBase { dn: base, source })
        });
        let default_search_base = default_search_base.transpose()?;
        let special = Special::new(&schema, &known, &listed, options.clock.now())?;
        let mut csn = CsnGenerator::new(options.server_id);
        for database in &databases {
            if let Some(newest) = newest_csn(database, &known) {
                csn.advance_past(newest);
            }
        }
        let sorted = options.sorted_values.iter();
        let sorted = sorted
            .filter_map(|name| schema.attribute(name))
            .map(|definition| definition.index)
            .collect();
        Ok(Directory {
            databases,
            trees: trees.collect::<Result<_, _>>()?,
            rules,
            restrictions: options.restrictions,
            allow: options.allow,
            disallow: options.disallow,
            referral: options.referral,
            sorted_values: sorted,
            default_search_base,
            limits: CompiledLimits::new(&schema, options.limits)?,
            sort_limits: options.sort_limits,
            sorts: Sorts::default(),
            advice: Advice::default(),
            cookie_key: options.cookie_key.unwrap_or_else(made_up),
            known,
            special,
            clock: options.clock,
            entropy: options.entropy,
            auth: Auth::new(options.auth),
            csn: Arc::new(Mutex::new(csn)),
            schema,
        })
    }

    /// Opens a directory that takes the place of this one while the server goes on: what binds, searches and writes
    /// have to agree on is shared between the two. The options name the same stores, or the same with
    /// [another schema](fulgurite_store::Store::with_schema).
    ///
    /// # Errors
    /// [`OpenError`], each a mistake in the options; this directory stays as it is.
    pub fn reopened(&self, options: DirectoryOptions) -> Result<Directory, OpenError> {
        let mut next = Directory::open(options)?;
        next.auth = self.auth.with_options(next.auth.options);
        next.csn = Arc::clone(&self.csn);
        next.sorts = self.sorts.clone();
        next.advice = self.advice.clone();
        next.cookie_key = self.cookie_key;
        for database in &mut next.databases {
            let path = database.store.path();
            let same = self.databases.iter().find(|d| d.store.path() == path);
            database.cookie_key = same.map_or(database.cookie_key, |same| same.cookie_key);
        }
        Ok(next)
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The databases, in the order of their options.
    #[must_use]
    pub fn databases(&self) -> &[Database] {
        &self.databases
    }

    /// The stores of the databases, in their order, to be kept.
    #[must_use]
    pub fn shared_stores(&self) -> Vec<Arc<Store>> {
        self.databases.iter().map(Database::shared_store).collect()
    }

    /// The limits of searches.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits.limits
    }

    /// What authenticates the cookies of searches that begin there.
    pub(crate) fn cookie_key_at<'d>(&'d self, place: &Place<'d>) -> &'d CookieKey {
        match place {
            Place::In(database) => &database.cookie_key,
            Place::RootDse | Place::Subschema | Place::Tree(_) | Place::Nowhere => &self.cookie_key,
        }
    }

    pub(crate) fn place(&self, dn: &Dn) -> Place<'_> {
        if dn.is_root() {
            Place::RootDse
        } else if *dn == self.special.subschema.dn {
            Place::Subschema
        } else if let Some(tree) = self.trees.iter().find(|tree| dn.is_within(&tree.suffix)) {
            Place::Tree(tree)
        } else {
            self.database_of(dn).map_or(Place::Nowhere, Place::In)
        }
    }

    /// Where a search from a name is done: below the empty name, in the database that has it as its suffix.
    pub(crate) fn place_of_search(&self, base: &Dn, scope: Scope) -> Place<'_> {
        match self.database_of(base) {
            Some(database) if base.is_root() && scope != Scope::Base => Place::In(database),
            _ => self.place(base),
        }
    }

    /// The suffix that is written like that, octet for octet: most searches begin at one, and it is parsed already.
    pub(crate) fn suffix_written(&self, name: &[u8]) -> Option<&Dn> {
        let mut suffixes = self.databases.iter().flat_map(Database::suffixes);
        suffixes.find(|suffix| suffix.pretty().as_bytes() == name)
    }

    /// The database with the most specific suffix that the name is or lies below.
    pub(crate) fn database_of(&self, dn: &Dn) -> Option<&Database> {
        let shown = self.databases.iter().filter(|database| !database.hidden);
        let depths = shown.filter_map(|database| {
            let suffix = database.suffix_of(dn)?;
            Some((suffix.depth(), database))
        });
        depths
            .max_by_key(|(depth, _)| *depth)
            .map(|(_, database)| database)
    }

    /// The same for a name in normal form.
    pub(crate) fn database_of_normal(&self, normal: &str) -> Option<&Database> {
        let within = |suffix: &Dn| {
            let suffix = suffix.normal();
            suffix.is_empty() || normal == suffix || normal_is_under(normal, suffix)
        };
        let shown = self.databases.iter().filter(|database| !database.hidden);
        let depths = shown.filter_map(|database| {
            let above = database.suffixes().iter().filter(|suffix| within(suffix));
            Some((above.map(Dn::depth).max()?, database))
        });
        let deepest = depths.max_by_key(|(depth, _)| *depth);
        deepest.map(|(_, database)| database)
    }

    /// The parts of a scope, one in each database that has a share in it: the base's own, then those glued below.
    pub(crate) fn legs<'d>(
        &'d self,
        database: &'d Database,
        base: &Dn,
        scope: Scope,
    ) -> Vec<Leg<'d>> {
        let own = Leg {
            database,
            base: base.clone(),
            scope,
        };
        let mut legs = self.glued_legs(database, base, scope);
        legs.insert(0, own);
        legs
    }

    /// The parts of a scope without the base's own.
    pub(crate) fn glued_legs<'d>(
        &'d self,
        database: &'d Database,
        base: &Dn,
        scope: Scope,
    ) -> Vec<Leg<'d>> {
        let mut legs = Vec::new();
        if scope == Scope::Base {
            return legs;
        }
        let glued = self.databases.iter().filter(|other| {
            other.subordinate != Subordinate::No && !other.hidden && !std::ptr::eq(*other, database)
        });
        for database in glued {
            for suffix in database
                .suffixes()
                .iter()
                .filter(|suffix| suffix.is_under(base))
            {
                let scope = match scope {
                    Scope::One if suffix.depth() == base.depth() + 1 => Scope::Base,
                    Scope::One | Scope::Base => continue,
                    Scope::Subtree | Scope::Children => Scope::Subtree,
                };
                // A database that stands by itself in between hides what is glued below it.
                if !self.is_glued_to(suffix, base) {
                    continue;
                }
                legs.push(Leg {
                    database,
                    base: suffix.clone(),
                    scope,
                });
            }
        }
        legs
    }

    /// Whether every database between a suffix and a base above it is glued.
    fn is_glued_to(&self, suffix: &Dn, base: &Dn) -> bool {
        let standing = self
            .databases
            .iter()
            .filter(|other| other.subordinate == Subordinate::No && !other.hidden);
        let mut suffixes = standing.flat_map(Database::suffixes);
        !suffixes.any(|between| suffix.is_under(between) && between.is_under(base))
    }

    /// The result for a name outside all databases: the referral to those who know more, or what the operation says
    /// without one.
    pub(crate) fn elsewhere(
        &self,
        dn: &Dn,
        scope: Option<Scope>,
        without: ResultCode,
    ) -> LdapResult {
        if self.referral.is_empty() {
            return LdapResult::new(without);
        }
        let mut result = LdapResult::new(ResultCode::Referral);
        let urls = self.referral.iter();
        result.referrals = urls
            .map(|url| referral::default_url(url, dn, scope))
            .collect();
        result
    }

    /// What the session may do with what is in no database.
    pub(crate) fn decisions(&self, session: &Session) -> Decisions<'_> {
        facts::decide(&self.rules, session, false)
    }
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory")
            .field("databases", &self.databases)
            .finish_non_exhaustive()
    }
}

/// Two draws of randomness.
fn made_up_key(entropy: &dyn Entropy) -> CookieKey {
    let mut key = CookieKey::default();
    for half in key.chunks_exact_mut(16) {
        half.copy_from_slice(&entropy.random());
    }
    key
}

/// The newest change number in a database. A store that cannot tell is no reason not to serve it.
fn newest_csn(database: &Database, known: &Known) -> Option<Csn> {
    let view = database.store.snapshot().ok()?;
    let newest = view.greatest_value(known.entry_csn.attribute).ok()??;
    Csn::parse(std::str::from_utf8(&newest).ok()?)
}

/// No suffix twice, and something above every subordinate database.
fn check_suffixes(databases: &[Database]) -> Result<(), OpenError> {
    let databases: Vec<&Database> = databases.iter().filter(|d| !d.hidden).collect();
    for (at, database) in databases.iter().enumerate() {
        let before = databases
            .iter()
            .take(at)
            .flat_map(|before| before.suffixes());
        let others = || {
            databases
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
        };
        for suffix in database.suffixes() {
            if before.clone().any(|other| other == suffix) {
                return Err(OpenError::SameSuffix(suffix.pretty().to_owned()));
            }
            let above =
                |other: &Database| other.suffixes().iter().any(|other| suffix.is_under(other));
            if database.subordinate != Subordinate::No && !others().any(|(_, other)| above(other)) {
                return Err(OpenError::NoSuperior(suffix.pretty().to_owned()));
            }
        }
    }
    Ok(())
}
