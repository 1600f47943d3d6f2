//! The state of a password, in the entry of its user and in its bind state, and its changes.

use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::{Attribute, AttributeDescription, Schema};
use fulgurite_store::EntryView;

use crate::core::clock::Timestamp;
use crate::request::change::Change;

/// The beginning of a time that locks forever, `000001010000Z`.
const FOREVER: &[u8] = b"00000101";

/// The attributes of the state.
#[derive(Clone, Debug)]
pub(crate) struct StateTypes {
    pub(crate) changed: AttributeDescription,
    pub(crate) locked: AttributeDescription,
    pub(crate) failures: AttributeDescription,
    pub(crate) history: AttributeDescription,
    pub(crate) grace_uses: AttributeDescription,
    pub(crate) reset: AttributeDescription,
    pub(crate) policy: AttributeDescription,
    pub(crate) start: AttributeDescription,
    pub(crate) end: AttributeDescription,
    pub(crate) last_success: AttributeDescription,
    pub(crate) locked_until: AttributeDescription,
}

/// The state of a password. Its history may have passwords in clear, so it has no form for display.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct PasswordState {
    pub(crate) changed: Option<Timestamp>,
    pub(crate) locked: Option<LockTime>,
    pub(crate) failures: Vec<Vec<u8>>,
    pub(crate) history: Vec<Vec<u8>>,
    pub(crate) grace_uses: Vec<Vec<u8>>,
    pub(crate) reset: bool,
    pub(crate) has_reset: bool,
    pub(crate) start: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
    pub(crate) last_success: Option<Timestamp>,
    pub(crate) locked_until: Option<Timestamp>,
}

/// The time of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockTime {
    Forever,
    At(Timestamp),
}

/// An attribute of the state that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateAttribute {
    Changed,
    Locked,
    Failures,
    History,
    GraceUses,
    Reset,
    LastSuccess,
    LockedUntil,
}

/// A change of the state: the values that replace those of an attribute.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StateChange {
    pub(crate) attribute: StateAttribute,
    pub(crate) values: Vec<Vec<u8>>,
}

impl StateTypes {
    /// Resolves the attributes. An error is the name of one that the schema lacks.
    pub(crate) fn of(schema: &Schema) -> Result<StateTypes, &'static str> {
        let find = |name: &'static str| {
            let attribute = schema.attribute(name).ok_or(name)?;
            Ok::<_, &'static str>(AttributeDescription::plain(attribute.index))
        };
        Ok(StateTypes {
            changed: find("pwdChangedTime")?,
            locked: find("pwdAccountLockedTime")?,
            failures: find("pwdFailureTime")?,
            history: find("pwdHistory")?,
            grace_uses: find("pwdGraceUseTime")?,
            reset: find("pwdReset")?,
            policy: find("pwdPolicySubentry")?,
            start: find("pwdStartTime")?,
            end: find("pwdEndTime")?,
            last_success: find("pwdLastSuccess")?,
            locked_until: find("pwdAccountTmpLockoutEnd")?,
        })
    }

    fn description(&self, attribute: StateAttribute) -> &AttributeDescription {
        match attribute {
            StateAttribute::Changed => &self.changed,
            StateAttribute::Locked => &self.locked,
            StateAttribute::Failures => &self.failures,
            StateAttribute::History => &self.history,
            StateAttribute::GraceUses => &self.grace_uses,
            StateAttribute::Reset => &self.reset,
            StateAttribute::LastSuccess => &self.last_success,
            StateAttribute::LockedUntil => &self.locked_until,
        }
    }

    /// Returns the attribute of a change, and its new values.
    pub(crate) fn values(&self, change: StateChange) -> (AttributeDescription, Vec<Vec<u8>>) {
        (self.description(change.attribute).clone(), change.values)
    }

    /// Returns a change of the state as a change of the entry.
    pub(crate) fn change(&self, change: StateChange) -> Change {
        Change {
            operation: ModifyOperation::Replace,
            attribute: Attribute {
                description: self.description(change.attribute).clone(),
                values: change.values,
            },
        }
    }
}

impl PasswordState {
    /// Reads the state of an entry.
    pub(crate) fn of(schema: &Schema, types: &StateTypes, entry: &EntryView<'_>) -> PasswordState {
        let all = |description: &AttributeDescription| {
            let values = entry.values(description).into_iter().flatten();
            values.map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let first = |description: &AttributeDescription| entry.values(description)?.first();
        let time = |description: &AttributeDescription| {
            let value = first(description)?;
            let normal = schema.normal_value(description.attribute, value);
            parse(value).or_else(|| parse(&normal?))
        };
        let locked = match first(&types.locked) {
            Some(value) if value.starts_with(FOREVER) => Some(LockTime::Forever),
            _ => time(&types.locked).map(LockTime::At),
        };
        let reset = first(&types.reset);
        PasswordState {
            changed: time(&types.changed),
            locked,
            failures: all(&types.failures),
            history: all(&types.history),
            grace_uses: all(&types.grace_uses),
            reset: reset == Some(b"TRUE"),
            has_reset: reset.is_some(),
            start: time(&types.start),
            end: time(&types.end),
            last_success: time(&types.last_success),
            locked_until: time(&types.locked_until),
        }
    }
}

impl std::fmt::Debug for StateChange {
    /// Shows no values, because those of the history are passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} ({} values)", self.attribute, self.values.len())
    }
}

impl StateChange {
    pub(crate) fn remove(attribute: StateAttribute) -> StateChange {
        StateChange {
            attribute,
            values: Vec::new(),
        }
    }

    pub(crate) fn set(attribute: StateAttribute, value: String) -> StateChange {
        StateChange {
            attribute,
            values: vec![value.into_bytes()],
        }
    }
}

/// Parses a stored time.
pub(crate) fn parse(value: &[u8]) -> Option<Timestamp> {
    Timestamp::parse_generalized(std::str::from_utf8(value).ok()?)
}
