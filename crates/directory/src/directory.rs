//! The directory: the parts that operations work with, opened together.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fulgurite_access::{RuleText, Rules, WithoutRules};
use fulgurite_ldap::{Controls, LdapResult, ResultCode, Scope, oid};
use fulgurite_policy::{
    Allow, Disallow, OverlaySettings, Restrictions, SortLimits, Sourced, Subordinate,
};
use fulgurite_schema::{AttributeIndex, Dn, Entry, Schema};
use fulgurite_store::{OperationLog, PackedCsn, Retention, Store};

use crate::auth::{Auth, AuthOptions, Authenticator};
use crate::core::change_signal::{ChangeListener, ChangeSignal};
use crate::core::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::core::cookie::{CookieKey, random_key};
use crate::core::csn::Csn;
use crate::core::database::{Database, DatabaseOptions, SharedOptions};
use crate::core::databases::Databases;
use crate::core::error::OpenError;
use crate::core::foundation::{Core, SharedCsn};
use crate::core::group_queue::GroupQueue;
use crate::core::index_advice::IndexAdvice;
use crate::core::limits::{CompiledLimits, Limits};
use crate::core::membership::Memberships;
use crate::core::notices::{NoLog, Notices, WarningLog};
use crate::core::result::{self, OpResult};
use crate::core::session::Session;
use crate::core::slow_searches::SlowSearches;
use crate::core::value_order::ValueOrders;
use crate::core::well_known_types::WellKnownTypes;
use crate::features::accesslog::{MISSING, PurgeTimes};
use crate::features::auditlog::AuditStyle;
use crate::features::log_gate::LogGate;
use crate::features::registry;
use crate::features::set::{Features, NO_FEATURES};
use crate::features::sssvlv::Sssvlv;
use crate::generated::access_log::LoggedStore;
use crate::generated::namespace::{Generated, NamespaceTarget};
use crate::generated::root_dse::GeneratedContent;
use crate::generated::tree::{AccessLogOptions, Tree, TreeOptions};
use crate::request::controls::{self, OptionalControls, RequestKind};
use crate::request::referral::DefaultReferral;
use crate::request::restrictions::OperationPolicy;
use crate::rights::explain::{self, ExplainError, ExplainTarget, RightsExplanation};
use crate::rights::watched_facts::Asker;
use crate::write::request::{WriteReply, WriteRequest};
use crate::write::unusable_policy::warn_of_unusable;
use crate::write::update_order::UpdateOrder;

/// The extended operations that the root DSE lists.
pub(crate) const EXTENDED_OPERATIONS: [&str; 5] = [
    oid::PASSWORD_MODIFY,
    oid::WHO_AM_I,
    oid::CANCEL,
    oid::START_TRANSACTION,
    oid::END_TRANSACTION,
];

/// The options of a directory.
pub struct DirectoryOptions {
    /// The databases. Their suffixes are the naming contexts, and their stores use `schema`.
    pub databases: Vec<DatabaseOptions>,
    /// The schema.
    pub schema: Arc<Schema>,
    /// The access rules in the language of [`Rules::parse`]. They follow those of each database.
    pub access: Vec<RuleText>,
    /// The access in databases without any rule.
    pub without_rules: WithoutRules,
    /// The limits of searches in databases without limits.
    pub limits: Limits,
    /// The operations that all databases refuse.
    pub restrictions: Restrictions,
    /// The settings of passwords, SASL and proxied authorization.
    pub auth: AuthOptions,
    /// Features that are off unless allowed.
    pub allow: Allow,
    /// Features that are on unless disallowed.
    pub disallow: Disallow,
    /// The URLs for names outside all databases.
    pub referral: Vec<String>,
    /// The names of attribute types whose values are stored in their order. Names that the schema
    /// lacks are ignored.
    pub sorted_values: Vec<String>,
    /// The base of searches that name none and want more than the root DSE.
    pub default_search_base: Option<String>,
    /// Attributes to add to the root DSE.
    pub root_dse: Vec<(String, Vec<Vec<u8>>)>,
    /// The database `cn=Monitor`.
    pub monitor: Option<TreeOptions>,
    /// The database `cn=config`.
    pub config: Option<TreeOptions>,
    /// The trees that show logs of changes. Overlays of the databases name them.
    pub access_logs: Vec<AccessLogOptions>,
    /// The form of the logs of the overlay `auditlog`.
    pub audit_style: AuditStyle,
    /// The overlays of all databases. The limits of sorted searches are their only effect here.
    pub overlays: Vec<OverlaySettings>,
    /// The limits of sorted searches, unless overlays set others.
    pub sort_limits: SortLimits,
    /// The key of the cookies of paged searches. Without it, each store's own
    /// [secret](Store::secret) outlives the server.
    pub cookie_key: Option<[u8; 32]>,
    /// The number of this server in CSNs, `0..=0xfff`.
    pub server_id: u16,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// The list of searches that looked at many entries in vain, or took long.
    pub slow_searches: SlowSearches,
    /// The log of the server.
    pub log: Arc<dyn WarningLog>,
}

/// Answers LDAP operations. Threads share it by reference, and reads take no lock.
pub struct Directory {
    core: Core,
    generated: Generated,
    policy: OperationPolicy,
    auth: Auth,
    /// The features of each database, by its number.
    features: Vec<Features>,
    search: SearchSettings,
    default_referral: DefaultReferral,
    /// Binds that change the state of passwords: one commit for those that come together.
    /// Each database has its own queue, by its number: one that waits hinders no other.
    attempts: Vec<GroupQueue<WriteRequest, WriteReply>>,
    /// Those who order the updates of databases, by their numbers; empty without any.
    orders: Vec<Option<Arc<dyn UpdateOrder>>>,
    /// The number of the next writer, shared with the directory of the next configuration. Updates
    /// on their way to the writer of a removed database would hinder another one there.
    next_writer: Arc<AtomicUsize>,
    /// The operations that are no changes, but that the log of some database may want.
    pub(crate) log_gate: LogGate,
}

/// The settings and the shared state of searches.
pub(crate) struct SearchSettings {
    pub(crate) default_base: Option<Dn>,
    /// Sorted searches. All databases share their limits and slots.
    pub(crate) sssvlv: Sssvlv,
    /// The limits outside all databases.
    pub(crate) limits: CompiledLimits,
    /// The missing indexes that were logged. Shared with the directory of the next configuration.
    pub(crate) index_advice: IndexAdvice,
    pub(crate) slow_searches: SlowSearches,
    /// The key of cookies outside all stores. Passed on to the directory of the next configuration.
    pub(crate) cookie_key: CookieKey,
}

impl DirectoryOptions {
    /// Makes options with every value at its default.
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
            access_logs: Vec::new(),
            audit_style: AuditStyle::default(),
            overlays: Vec::new(),
            sort_limits: SortLimits::default(),
            cookie_key: None,
            server_id: 0,
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(SystemEntropy),
            slow_searches: SlowSearches::default(),
            log: Arc::new(NoLog),
        }
    }
}

/// Warns of copies that shall tell their provider of binds, and cannot.
fn warn_of_kept_binds(log: &dyn WarningLog, databases: &Databases, features: &[Features]) {
    for (database, features) in databases.iter().zip(features) {
        let replication = &database.replication;
        let is_wanted = features.forwards_binds() && replication.is_shadow();
        if is_wanted && !replication.forwards_binds() {
            let suffixes = database.suffixes().iter().map(Dn::pretty);
            let suffix: String = suffixes.take(1).collect();
            log.warn(&format!(
                "{suffix}: the provider learns of no bind: this needs updateref and overlay chain"
            ));
        }
    }
}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`OpenError`] for an invalid option.
    pub fn open(mut options: DirectoryOptions) -> Result<Directory, OpenError> {
        let schema = Arc::clone(&options.schema);
        let types = WellKnownTypes::of(&schema)?;
        let rules = Rules::parse(&schema, &options.access, options.without_rules)?;
        let mut sort_limits = options.sort_limits;
        registry::compile(&schema, &[], &options.overlays, &mut sort_limits)?;
        let databases = options.databases.iter();
        let features = databases.map(|database| {
            let suffixes = database.store.suffixes();
            let compiled =
                registry::compile(&schema, suffixes, &database.overlays, &mut sort_limits);
            compiled.map(|features| features.with_last_bind(&schema, database.last_bind_s))
        });
        let mut features: Vec<Features> = features.collect::<Result<_, _>>()?;
        for log in features
            .iter_mut()
            .filter_map(|features| features.audit_log.as_mut())
        {
            log.style = options.audit_style;
        }
        let mut databases = open_databases(&mut options)?;
        let membership_types = take_memberships(&mut features, &mut databases);
        let default_base = options.default_search_base.take();
        let default_base = default_base.map(|base| {
            Dn::parse(&schema, &base).map_err(|source| OpenError::SearchBase { dn: base, source })
        });
        let default_base = default_base.transpose()?;
        let has_policy = |features: &Features| features.password_policy.is_some();
        let policies: &[&'static str] = match features.iter().any(has_policy) {
            true => &[oid::PASSWORD_POLICY, oid::ACCOUNT_USABILITY],
            false => &[],
        };
        let has_provider = |features: &Features| features.provider.is_some();
        let config = options.config.as_ref();
        let is_provided = config.is_some_and(|config| config.provides);
        let is_provided = is_provided || features.iter().any(has_provider);
        let providers = is_provided.then_some(oid::SYNC_REQUEST);
        let listed = policies.iter().copied().chain(providers).collect();
        settle_logs(&databases, &features)?;
        warn_of_kept_binds(&*options.log, &databases, &features);
        warn_of_unusable(&*options.log, &databases, &features);
        let logs = open_logs(&mut options, &databases, &features)?;
        let generated = generated(&mut options, &types, &databases, (rules, listed, logs))?;
        let csn = SharedCsn::new(options.server_id, &databases);
        let has_logs = generated.operation_logs().next().is_some();
        let log_gate = LogGate::new(&databases, &features, has_logs);
        let count = databases.as_slice().len();
        Ok(Directory {
            core: Core {
                types,
                databases,
                sorted_values: sorted_values(&schema, &options.sorted_values),
                membership_types,
                csn,
                changes: ChangeSignal::default(),
                clock: options.clock,
                entropy: Arc::clone(&options.entropy),
                notices: Notices::new(options.log),
                schema: Arc::clone(&schema),
            },
            generated,
            policy: OperationPolicy {
                restrictions: options.restrictions,
                allow: options.allow,
                disallow: options.disallow,
            },
            auth: Auth::new(options.auth),
            features,
            search: SearchSettings {
                default_base,
                sssvlv: Sssvlv::new(sort_limits),
                limits: CompiledLimits::new(&schema, options.limits)?,
                index_advice: IndexAdvice::default(),
                slow_searches: options.slow_searches,
                cookie_key: options
                    .cookie_key
                    .unwrap_or_else(|| random_key(&*options.entropy)),
            },
            default_referral: DefaultReferral(options.referral),
            attempts: (0..count).map(|_| GroupQueue::default()).collect(),
            orders: Vec::new(),
            next_writer: Arc::new(AtomicUsize::new(2 * count)),
            log_gate,
        })
    }

    /// Opens a directory that replaces this one while the server runs.
    ///
    /// Both share the state that binds, searches and writes must agree on. The options name the
    /// same stores, or the same stores with [another schema](fulgurite_store::Store::with_schema).
    ///
    /// # Errors
    /// [`OpenError`] for an invalid option; this directory stays as it is.
    pub fn reopened(&self, options: DirectoryOptions) -> Result<Directory, OpenError> {
        let mut next = Directory::open(options)?;
        next.auth = self.auth.with_options(next.auth.options);
        next.core.csn = self.core.csn.clone();
        next.core.changes = self.core.changes.next();
        next.search.sssvlv.slots = self.search.sssvlv.slots.clone();
        next.search.index_advice = self.search.index_advice.clone();
        next.search.cookie_key = self.search.cookie_key;
        next.next_writer = Arc::clone(&self.next_writer);
        // Records that wait in memory are in one place.
        for open in self.generated.operation_logs() {
            next.generated.share_operations(open);
        }
        for (database, order) in self.databases().iter().zip(&self.orders) {
            if let Some(order) = order {
                next.order_updates(database.store.path(), Arc::clone(order));
            }
        }
        for database in next.core.databases.iter_mut() {
            let path = database.store.path();
            let mut databases = self.core.databases.iter();
            if let Some(same) = databases.find(|same| same.store.path() == path) {
                database.cookie_key = same.cookie_key;
                database.writer = same.writer;
                database.forwarder = same.forwarder;
            } else {
                database.writer = self.next_writer.fetch_add(2, Ordering::Relaxed);
                database.forwarder = database.writer + 1;
            }
        }
        Ok(next)
    }

    /// Returns the number of this server in CSNs.
    #[must_use]
    pub fn server_id(&self) -> u16 {
        self.core.csn.server()
    }

    /// Returns a new number for a change outside the stores, greater than `floor`.
    #[must_use]
    pub fn next_csn(&self, floor: Option<PackedCsn>) -> String {
        let floor = floor.and_then(|csn| Csn::parse(&csn.text()));
        self.core.csn.next(self.core.clock.now(), floor).text()
    }

    /// Calls `listener` after each commit while a search waits for changes. It must be fast.
    pub fn on_change(&self, listener: ChangeListener) {
        self.core.changes.listen(listener);
    }

    /// Notes that this directory answers requests now. Searches of older ones end that wait for
    /// changes.
    pub fn replaced(&self) {
        self.core.changes.replaced();
    }

    /// Returns the number of searches that wait for changes.
    #[must_use]
    pub fn waiting_searches(&self) -> usize {
        self.core.changes.searches()
    }

    /// Returns the schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.core.schema
    }

    /// Returns the databases, in the order of their options.
    #[must_use]
    pub fn databases(&self) -> &[Database] {
        self.core.databases.as_slice()
    }

    /// Returns the stores of the databases, in their order, shared.
    #[must_use]
    pub fn shared_stores(&self) -> Vec<Arc<Store>> {
        self.databases()
            .iter()
            .map(Database::shared_store)
            .collect()
    }

    /// Returns the limits of searches.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.search.limits.limits
    }

    /// Explains the rights of a session to an entry, with the rules they come from.
    ///
    /// Without targets it explains the entry, its children and each value in their order. With
    /// `unseen` the entry need not exist and counts as empty.
    ///
    /// # Errors
    /// [`ExplainError`].
    pub fn explain(
        &self,
        session: &Session,
        entry: &str,
        targets: &[ExplainTarget],
        unseen: bool,
    ) -> Result<Vec<RightsExplanation>, ExplainError> {
        let explainer = explain::Explainer {
            core: &self.core,
            generated: &self.generated,
            targets,
            unseen,
            asker: None,
        };
        explainer.explain(session, entry)
    }

    /// Explains the rights of a session to one who may not know everything.
    pub(crate) fn explain_to(
        &self,
        asker: &Session,
        session: &Session,
        entry: &str,
        targets: &[ExplainTarget],
    ) -> Result<Vec<RightsExplanation>, ExplainError> {
        let explainer = explain::Explainer {
            core: &self.core,
            generated: &self.generated,
            targets,
            unseen: false,
            asker: Some(Asker {
                core: &self.core,
                session: asker,
            }),
        };
        explainer.explain(session, entry)
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    pub(crate) fn generated(&self) -> &Generated {
        &self.generated
    }

    pub(crate) fn policy(&self) -> &OperationPolicy {
        &self.policy
    }

    /// Returns the features of a database.
    pub(crate) fn features_of(&self, database: &Database) -> &Features {
        debug_assert_eq!(self.features.len(), self.databases().len());
        self.features.get(database.number).unwrap_or(&NO_FEATURES)
    }

    /// Lets a cluster order the updates of a database. So does a directory that
    /// [replaces](Self::reopened) this one.
    pub fn order_updates(&mut self, store: &Path, order: Arc<dyn UpdateOrder>) {
        let count = self.databases().len();
        let number = self.database_at(store).map(|database| database.number);
        self.orders.resize(count, None);
        let place = number.and_then(|number| self.orders.get_mut(number));
        place
            .into_iter()
            .for_each(|place| *place = Some(Arc::clone(&order)));
    }

    /// Returns true if a cluster orders the updates of the database that has an entry.
    #[must_use]
    pub fn is_ordered(&self, name: &[u8]) -> bool {
        let databases = &self.core.databases;
        let dn = match databases.suffix_written(name) {
            Some(suffix) => return self.orders_under(suffix),
            None => Dn::parse_bytes(self.schema(), name),
        };
        dn.is_ok_and(|dn| self.orders_under(&dn))
    }

    fn orders_under(&self, dn: &Dn) -> bool {
        let database = self.core.databases.database_of(dn);
        database.is_some_and(|database| self.order_of(database).is_some())
    }

    /// Returns the databases whose updates a cluster orders.
    pub fn ordered_databases(&self) -> impl Iterator<Item = &Database> {
        let mut databases = self.databases().iter();
        std::iter::from_fn(move || databases.find(|database| self.order_of(database).is_some()))
    }

    /// Returns true if a cluster orders the updates of some database.
    #[must_use]
    pub fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// Returns the cluster that orders the updates of a database.
    pub(crate) fn order_of(&self, database: &Database) -> Option<&dyn UpdateOrder> {
        self.orders.get(database.number)?.as_deref()
    }

    /// Returns the queue of the binds to a database that change the state of passwords.
    pub(crate) fn attempts_of(
        &self,
        database: &Database,
    ) -> Option<&GroupQueue<WriteRequest, WriteReply>> {
        debug_assert_eq!(self.attempts.len(), self.databases().len());
        self.attempts.get(database.number)
    }

    pub(crate) fn search_settings(&self) -> &SearchSettings {
        &self.search
    }

    pub(crate) fn auth_options(&self) -> &AuthOptions {
        &self.auth.options
    }

    pub(crate) fn authenticator(&self) -> Authenticator<'_> {
        Authenticator {
            core: &self.core,
            generated: &self.generated,
            policy: &self.policy,
            auth: &self.auth,
        }
    }

    /// Decodes the controls of a request. Returns the session it is done for if that is not the
    /// client's own.
    pub(crate) fn controls_of<'c>(
        &self,
        session: &Session,
        kind: RequestKind<'_>,
        controls: &Controls<'c>,
    ) -> OpResult<(OptionalControls<'c>, Option<Session>)> {
        self.authenticator().controls_of(session, kind, controls)
    }

    /// Returns the part of the directory that a name belongs to.
    pub(crate) fn target(&self, dn: &Dn) -> NamespaceTarget<'_> {
        self.generated.target(&self.core.databases, dn)
    }

    /// Returns the database that an update of this name goes to.
    pub(crate) fn updatable(&self, dn: &Dn) -> OpResult<&Database> {
        match self.target(dn) {
            NamespaceTarget::Database(database) => Ok(database),
            NamespaceTarget::Tree(tree) => Err(tree.read_only()),
            NamespaceTarget::Outside if !self.default_referral.is_empty() => {
                Err(self.elsewhere(dn, None, ResultCode::Referral))
            }
            NamespaceTarget::RootDse | NamespaceTarget::Subschema | NamespaceTarget::Outside => {
                Err(result::no_global_superior())
            }
        }
    }

    /// Fails for an update of a copy that no client may update. `dn` is the name that a referral
    /// gets.
    pub(crate) fn refuse_shadow(
        &self,
        session: &Session,
        database: &Database,
        dn: Option<&Dn>,
    ) -> OpResult {
        if database.replication.takes_updates_of(session) {
            return Ok(());
        }
        let own = DefaultReferral(database.replication.update_refs.clone());
        let referral = match own.is_empty() {
            true => &self.default_referral,
            false => &own,
        };
        if referral.is_empty() {
            let text = "shadow context; no update referral";
            return Err(result::refuse(ResultCode::UnwillingToPerform, text));
        }
        Err(match dn {
            Some(dn) => referral.result(dn, None, ResultCode::Referral),
            None => referral.plain(),
        })
    }

    /// Returns the default referral for a name outside all databases, or `without` if there is
    /// none.
    pub(crate) fn elsewhere(
        &self,
        dn: &Dn,
        scope: Option<Scope>,
        without: ResultCode,
    ) -> LdapResult {
        self.default_referral.result(dn, scope, without)
    }

    /// Returns the root DSE for a session; it depends on the connection.
    pub(crate) fn root_dse(&self, session: &Session) -> Entry {
        let connection = session.connection();
        let mechanisms = self.authenticator().sasl_mechanisms(connection);
        self.generated
            .root_dse_of(&self.core.schema, connection, mechanisms)
    }
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory")
            .field("databases", &self.databases())
            .finish_non_exhaustive()
    }
}

fn open_databases(options: &mut DirectoryOptions) -> Result<Databases, OpenError> {
    let databases = std::mem::take(&mut options.databases).into_iter();
    let shared = shared_options(options);
    let (key, entropy) = (options.cookie_key, &options.entropy);
    let random = || random_key(&**entropy);
    let cookie_key = |store: &Store| match key {
        Some(key) => key,
        // A read-only store has no key. Its cookies end with this server.
        None => store.secret(random).unwrap_or_else(|_| random()),
    };
    let count = databases.len();
    let databases = databases.enumerate().map(|(number, database)| {
        let database = Database::open(number, database, &shared, cookie_key);
        database.map(|mut database| {
            database.forwarder = count + number;
            database
        })
    });
    Databases::new(databases.collect::<Result<_, _>>()?)
}

/// Brings the logs of changes up to date with their stores and with the configuration.
fn settle_logs(databases: &Databases, features: &[Features]) -> Result<(), OpenError> {
    for (database, features) in databases.iter().zip(features) {
        let store = &database.store;
        store.settle_changes().map_err(OpenError::Changes)?;
        let mut retention = Retention {
            bytes_max: store.retention().bytes_max,
            ..Retention::default()
        };
        if let Some(purge) = features.access_log.as_ref().and_then(|log| log.purge) {
            retention.time_us_max = purge.age_us;
        }
        if let Some(provider) = &features.provider {
            retention.records_min = provider.changes_min;
        }
        store.keep_changes(retention);
        if features.provider.is_none() && database.consumers().is_empty() {
            continue;
        }
        store.show_changes().map_err(OpenError::Changes)?;
    }
    Ok(())
}

/// Opens the trees that show logs of changes. Fails if an overlay names a tree that does not exist.
fn open_logs(
    options: &mut DirectoryOptions,
    databases: &Databases,
    features: &[Features],
) -> Result<Vec<Tree>, OpenError> {
    let schema = Arc::clone(&options.schema);
    let wanted = std::mem::take(&mut options.access_logs).into_iter();
    let named = wanted.map(|log| match Dn::parse(&schema, &log.suffix) {
        Ok(suffix) => Ok((log, suffix)),
        Err(source) => Err(OpenError::RootDn {
            dn: log.suffix,
            source,
        }),
    });
    let named: Vec<(AccessLogOptions, Dn)> = named.collect::<Result<_, _>>()?;
    for log in features
        .iter()
        .filter_map(|features| features.access_log.as_ref())
    {
        if !named.iter().any(|(_, suffix)| *suffix == log.suffix.value) {
            let text = MISSING.to_owned();
            return Err(OpenError::Overlay(Sourced::new(
                text,
                log.suffix.origin.clone(),
            )));
        }
    }
    let shared = shared_options(options);
    let server = options.server_id;
    let opened = named.into_iter().map(|(log, suffix)| {
        let pairs = databases.iter().zip(features);
        let logged = pairs.filter_map(|(database, features)| {
            let settings = features.access_log.as_ref()?;
            let store = database.shared_store();
            let operations = settings.operations.clone();
            let is_shown = settings.suffix.value == suffix;
            is_shown.then_some((LoggedStore { store, operations }, settings.purge))
        });
        let (stores, purges): (Vec<_>, Vec<_>) = logged.unzip();
        let operations = open_operations(&log, &stores, &purges)?;
        Tree::open_log((log, suffix), (stores, operations), server, &shared)
    });
    opened.collect()
}

/// Opens the log of operations of a tree, if a database has any that are no changes.
fn open_operations(
    log: &AccessLogOptions,
    stores: &[LoggedStore],
    purges: &[Option<PurgeTimes>],
) -> Result<Option<Arc<OperationLog>>, OpenError> {
    let exceeds = |logged: &LoggedStore| logged.operations.exceed_changes();
    let Some(folder) = log.folder.as_ref().filter(|_| stores.iter().any(exceeds)) else {
        return Ok(None);
    };
    let operations = OperationLog::open(folder).map_err(OpenError::Operations)?;
    if let Some(age_us) = purges.iter().flatten().map(|purge| purge.age_us).max() {
        operations.keep(age_us);
    }
    Ok(Some(Arc::new(operations)))
}

fn generated(
    options: &mut DirectoryOptions,
    types: &WellKnownTypes,
    databases: &Databases,
    (rules, more_controls, logs): (Rules, Vec<&'static str>, Vec<Tree>),
) -> Result<Generated, OpenError> {
    let listed = databases
        .iter()
        .filter(|database| !database.hidden && database.subordinate != Subordinate::Glued);
    let context =
        |tree: &Option<TreeOptions>| tree.as_ref().map(|tree| tree.source.suffix().to_owned());
    let (monitor, config) = (context(&options.monitor), context(&options.config));
    let log_suffixes: Vec<Dn> = logs.iter().map(|log| log.suffix.clone()).collect();
    let trees = [options.monitor.take(), options.config.take()];
    let shared = shared_options(options);
    let trees = trees.into_iter().flatten();
    let trees = trees.map(|tree| Tree::open(tree, &shared));
    let content = GeneratedContent {
        started: options.clock.now(),
        naming_contexts: listed
            .flat_map(Database::suffixes)
            .chain(&log_suffixes)
            .map(Dn::pretty)
            .collect(),
        monitor: monitor.as_deref(),
        config: config.as_deref(),
        controls: controls::supported().chain(more_controls).collect(),
        extensions: &EXTENDED_OPERATIONS,
        additions: &options.root_dse,
    };
    let mut trees: Vec<Tree> = trees.collect::<Result<_, _>>()?;
    trees.extend(logs);
    Generated::new(&options.schema, types, &content, trees, rules)
}

fn shared_options(options: &DirectoryOptions) -> SharedOptions<'_> {
    SharedOptions {
        schema: &options.schema,
        access: &options.access,
        without_rules: options.without_rules,
        limits: &options.limits,
    }
}

/// Hands the memberships, lists and logs of the features over to their databases. Returns the
/// attributes of memberships.
fn take_memberships(features: &mut [Features], databases: &mut Databases) -> Vec<AttributeIndex> {
    let mut types = Vec::new();
    for (database, features) in databases.iter_mut().zip(features) {
        let memberships = std::mem::take(&mut features.memberships);
        types.extend(memberships.iter().map(|one| one.attribute.attribute));
        database.memberships = Memberships::new(memberships);
        database.lists = features.lists.take();
        let log = features.access_log.as_ref();
        database.audit_context = log.map(|log| log.suffix.value.clone());
        database.value_orders = ValueOrders::new(std::mem::take(&mut features.value_orders));
    }
    types.sort_unstable();
    types.dedup();
    types
}

fn sorted_values(schema: &Schema, names: &[String]) -> Vec<AttributeIndex> {
    let definitions = names.iter().filter_map(|name| schema.attribute(name));
    definitions.map(|definition| definition.index).collect()
}
