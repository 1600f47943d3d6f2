//! The features of a database, compiled once for each configuration.

use super::accesslog::AccessLogSettings;
use super::auditlog::AuditLog;
use super::guards::Guard;
use super::last_bind::BindTime;
use super::memberof::ExistingMembers;
use super::password_policy::overlay::PasswordPolicy;
use super::refint::Refint;
use super::syncprov::Provider;
use super::valsort::Weights;
use crate::core::dynamic_lists::DynamicLists;
use crate::core::membership::Membership;
use crate::core::value_order::ValueOrder;
use crate::request::change::Change;
use fulgurite_schema::{AttributeDescription, Schema};

/// The features of a database. Each feature that is no guard has a field.
#[derive(Debug, Default)]
pub(crate) struct Features {
    /// The guards in the order in which they are asked: the one configured last comes first.
    pub(crate) guards: Vec<Guard>,
    /// Groups that lose added members which name no entry.
    pub(crate) dropped_members: Vec<ExistingMembers>,
    /// The attributes that list groups, until the database takes them over.
    pub(crate) memberships: Vec<Membership>,
    /// The dynamic lists, until the database takes them over.
    pub(crate) lists: Option<Box<DynamicLists>>,
    /// The order in which values are shown, until the database takes it over.
    pub(crate) value_orders: Vec<ValueOrder>,
    /// The attributes whose values must have weights.
    pub(crate) weights: Vec<Weights>,
    /// References that follow renamed and deleted entries.
    pub(crate) refint: Vec<Refint>,
    /// The attributes that get the time of a successful bind.
    pub(crate) bind_times: Vec<BindTime>,
    pub(crate) audit_log: Option<AuditLog>,
    /// The name that the log of changes is shown under.
    pub(crate) access_log: Option<AccessLogSettings>,
    pub(crate) password_policy: Option<PasswordPolicy>,
    /// The provider of content synchronisation.
    pub(crate) provider: Option<Provider>,
    /// True once the overlay `glue` is configured. A provider after it has glued databases, too.
    pub(crate) has_glue: bool,
    /// The number of guards that are asked before the password policy: those configured after it.
    pub(crate) guards_before_policy: usize,
}

/// The guards that are asked together about an update which a password policy judges too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardTurn {
    BeforePolicy,
    AfterPolicy,
    All,
}

/// The features of a database without overlays.
pub(crate) static NO_FEATURES: Features = Features {
    guards: Vec::new(),
    dropped_members: Vec::new(),
    memberships: Vec::new(),
    lists: None,
    value_orders: Vec::new(),
    weights: Vec::new(),
    refint: Vec::new(),
    bind_times: Vec::new(),
    audit_log: None,
    access_log: None,
    password_policy: None,
    provider: None,
    has_glue: false,
    guards_before_policy: 0,
};

impl Features {
    /// Adds a guard. It is asked before all others so far.
    pub(super) fn add_guard(&mut self, guard: Guard) {
        self.guards.insert(0, guard);
        if self.password_policy.is_some() {
            self.guards_before_policy += 1;
        }
    }

    /// Returns the guards of a turn, in the order in which they are asked.
    pub(crate) fn guards_of(&self, turn: GuardTurn) -> &[Guard] {
        let before = self.guards_before_policy;
        debug_assert!(before <= self.guards.len(), "a guard is counted once");
        let guards = match turn {
            GuardTurn::All => return &self.guards,
            GuardTurn::BeforePolicy => self.guards.get(..before),
            GuardTurn::AfterPolicy => self.guards.get(before..),
        };
        guards.unwrap_or_default()
    }

    /// Adds the setting that records binds. It comes before the overlay, as in slapd.
    pub(crate) fn with_last_bind(mut self, schema: &Schema, last_bind_s: Option<u32>) -> Features {
        let time = last_bind_s.and_then(|seconds| BindTime::of_setting(schema, seconds));
        self.bind_times.splice(..0, time);
        self
    }

    /// Returns true if a copy tells its provider of binds.
    pub(crate) fn forwards_binds(&self) -> bool {
        let mut times = self.bind_times.iter();
        let policy = self.password_policy.as_ref();
        policy.is_some_and(|policy| policy.forward_updates) || times.any(|time| time.is_forwarded)
    }

    /// Returns true if a copy tells its provider of this time of a bind.
    pub(crate) fn forwards_time(&self, attribute: &AttributeDescription) -> bool {
        let mut times = self.bind_times.iter();
        times.any(|time| time.is_forwarded && time.attribute == *attribute)
    }

    /// Returns true if something follows a change of a name.
    pub(crate) fn follows(&self) -> bool {
        !self.refint.is_empty()
    }

    /// Returns true if a guard examines more of a changed entry than the changed values.
    pub(crate) fn needs_whole_entry(&self, changes: &[&[Change]]) -> bool {
        let mut guards = self.guards.iter();
        guards.any(|guard| {
            changes
                .iter()
                .any(|changes| guard.needs_whole_entry(changes))
        })
    }
}
