//! Password policies at updates: a new password is judged, and the state that it changes is added.

use std::borrow::Cow;

use fulgurite_access::Rights;
use fulgurite_ldap::control::PasswordPolicyResponse;
use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_schema::{AttributeDescription, Dn, Entry};
use fulgurite_store::{EntryId, Snapshot, View};

use crate::auth::AuthOptions;
use crate::core::foundation::Core;
use crate::core::result::{self, OpResult, refuse};
use crate::features::password_policy::change_rules::{
    self, OldPassword, PasswordUpdateFacts, is_hashed, is_same,
};
use crate::features::password_policy::history;
use crate::features::password_policy::overlay::{PasswordPolicy, PolicyRefusal};
use crate::features::password_policy::quality::QualityCheck;
use crate::features::password_policy::rules::PolicyRules;
use crate::features::password_policy::state::{
    LockTime, PasswordState, StateAttribute, StateChange,
};
use crate::request::change::Change;
use crate::request::restrictions::password_change_required;
use crate::rights::facts::NeighbourReader;
use crate::write::context::{Context, WorkBudget};
use crate::write::request::PasswordExchange;

/// The deleted passwords of a request that are compared with the stored hashes. Each comparison
/// costs as much as a bind, and the writer waits.
const COMPARED_MAX: usize = 4;

/// An entry that a policy is about.
pub(crate) struct PolicySubject {
    /// `None` if no valid policy is about the entry.
    pub(crate) rules: Option<PolicyRules>,
    pub(crate) state: PasswordState,
    /// The stored passwords.
    pub(crate) stored: Vec<Vec<u8>>,
    /// True if the entry has a password, or keys of one. Nobody can guess what is not there.
    pub(crate) has_password: bool,
}

impl PolicySubject {
    /// Returns the rules that judge binds. Without a policy, a lock for good can be a rule alone.
    pub(crate) fn rules_of_binds(&self, options: &AuthOptions) -> Option<Cow<'_, PolicyRules>> {
        if let Some(rules) = &self.rules {
            return Some(Cow::Borrowed(rules));
        }
        let is_locked = self.state.locked == Some(LockTime::Forever);
        (options.locks_need_no_policy && is_locked).then(|| {
            Cow::Owned(PolicyRules {
                lockout: true,
                ..PolicyRules::default()
            })
        })
    }

    /// Returns the passwords that a new one must differ from.
    pub(crate) fn compared_with_new(self) -> Vec<Vec<u8>> {
        if self.rules.is_none_or(|rules| rules.in_history == 0) {
            return Vec::new();
        }
        let history = self.state.history.iter();
        let old = history.filter_map(|value| history::password(value));
        let old: Vec<Vec<u8>> = old.map(<[u8]>::to_vec).collect();
        [self.stored, old].concat()
    }
}

/// The changes of a modify after the judgement.
pub(crate) struct JudgedChanges<'c> {
    /// The client's changes, perhaps with hashed passwords.
    pub(crate) changes: Cow<'c, [Change]>,
    /// The changes of the password's state.
    pub(crate) state: Vec<Change>,
}

/// Reads rules and state of an entry; `None` if there is none of this id.
pub(crate) fn subject<'s, T: Snapshot>(
    core: &Core,
    view: &View<'s, T>,
    overlay: &PasswordPolicy,
    id: EntryId,
) -> OpResult<Option<PolicySubject>> {
    let failed = |error| result::store(&error);
    let Some(entry) = view.entry(id).map_err(failed)? else {
        return Ok(None);
    };
    view.check_bind_state(id).map_err(failed)?;
    let named = entry.values(&overlay.types.policy);
    let named = named.and_then(|values| values.first());
    let keys = core.types.auth_password.as_ref();
    let has_keys = keys.is_some_and(|keys| entry.values(keys).is_some());
    let stored = entry.values(&core.types.user_password);
    let has_password = has_keys || stored.is_some();
    let stored = stored.into_iter();
    Ok(Some(PolicySubject {
        has_password,
        rules: rules(core, view, overlay, named),
        state: PasswordState::of(&core.schema, &overlay.types, &entry),
        stored: stored.flatten().map(<[u8]>::to_vec).collect(),
    }))
}

/// Reads the policy that an entry names, or the default one. As in slapd, a name without a valid
/// policy means no policy at all, and a line in the log.
fn rules<'s, T: Snapshot>(
    core: &Core,
    view: &View<'s, T>,
    overlay: &PasswordPolicy,
    named: Option<&[u8]>,
) -> Option<PolicyRules> {
    let own = match named {
        None => None,
        Some(text) => Some(Dn::parse(&core.schema, std::str::from_utf8(text).ok()?).ok()?),
    };
    let dn = own.as_ref().or(overlay.default.as_ref())?;
    let read = view.read(core, dn.normal(), |entry| {
        PolicyRules::of(&core.schema, &entry)
    });
    let rules = read.flatten();
    if rules.is_none() {
        let (clock, kind) = (&*core.clock, format!("ppolicy: {}", dn.normal()));
        core.notices.warn(clock, &kind, || {
            let dn = dn.pretty();
            format!("ppolicy: policy subentry {dn:?} missing or invalid, no policy will be applied")
        });
    }
    if let Some(reason) = rules.as_ref().and_then(PolicyRules::unusable) {
        let (clock, kind) = (&*core.clock, format!("ppolicy: unusable {}", dn.normal()));
        core.notices.warn_once(clock, &kind, || {
            let dn = dn.pretty();
            format!("{dn}: under this password policy no user can set a password: {reason}")
        });
    }
    rules
}

impl Context<'_, '_> {
    /// Refuses what a connection must not do before it has changed its password.
    pub(crate) fn refuse_until_password_change(&mut self) -> LdapResult {
        let error = fulgurite_ldap::control::PasswordError::ChangeAfterReset;
        self.refused_by_policy(PolicyRefusal {
            result: password_change_required(),
            response: PasswordPolicyResponse::of_error(error),
        })
    }

    /// Returns true if guards are asked about changes before the policy judges them.
    pub(crate) fn has_guards_before_policy(&self, changes: &[Change]) -> bool {
        let password = &self.core.types.user_password;
        let is_password = |change: &Change| change.attribute.description == *password;
        self.features.guards_before_policy > 0 && changes.iter().any(is_password)
    }

    /// Judges the changes of an entry, and adds those of its password's state.
    pub(crate) fn judge_modify<'c>(
        &mut self,
        id: EntryId,
        dn: &Dn,
        changes: &'c [Change],
        exchange: Option<&PasswordExchange>,
    ) -> OpResult<JudgedChanges<'c>> {
        let password = &self.core.types.user_password;
        let mut touched = changes.iter();
        let features = self.features;
        let overlay = features.password_policy.as_ref();
        let is_password = |change: &Change| change.attribute.description == *password;
        let Some(overlay) = overlay.filter(|_| touched.any(is_password)) else {
            let ended = overlay.map(|overlay| self.end_of_lock(id, overlay, changes));
            return Ok(JudgedChanges {
                changes: Cow::Borrowed(changes),
                state: ended.transpose()?.flatten().into_iter().collect(),
            });
        };
        self.require_time_for_hashes()?;
        let added = changes
            .iter()
            .filter(|change| is_password(change) && adds(change));
        if exchange.is_none() && added.flat_map(slices).count() > 1 {
            return Err(self.refused_by_policy(too_many()));
        }
        let subject = subject(self.core, self.writer, overlay, id)?;
        let Some(subject) = subject else {
            return Err(LdapResult::new(ResultCode::NoSuchObject));
        };
        let quality = match &subject.rules {
            Some(rules) => {
                self.quality(rules, dn, &|attribute| self.stored_texts(id, attribute))?
            }
            None => None,
        };
        let facts = PasswordUpdateFacts {
            quality: quality.as_ref(),
            ..self.facts(dn, changes, exchange, &subject)?
        };
        if let Some(rules) = &subject.rules {
            let checked = change_rules::check(rules, &subject.state, &facts, self.now);
            checked.map_err(|refusal| self.refused_by_policy(refusal))?;
        }
        if self.session.must_change_password() && facts.new.is_some() {
            self.returned.new_password_of = Some(Box::new(dn.clone()));
        }
        let state =
            change_rules::state_changes(subject.rules.as_ref(), &subject.state, &facts, self.now);
        let is_set = |description: &AttributeDescription| {
            let mut changes = changes.iter();
            changes.any(|change| change.attribute.description == *description)
        };
        let state = state.into_iter().map(|change| overlay.types.change(change));
        let state = state.filter(|change| !is_set(&change.attribute.description));
        let mut rewritten = changes.to_vec();
        let mut compared = 0;
        for change in rewritten.iter_mut().filter(|change| is_password(change)) {
            self.rewrite(overlay, change, &subject.stored, &mut compared)?;
        }
        Ok(JudgedChanges {
            changes: Cow::Owned(rewritten),
            state: state.collect(),
        })
    }

    /// Returns the check of the module that a policy names. `None` and a line in the log if the
    /// server cannot make it. `held` returns the values of an attribute of the entry.
    fn quality(
        &self,
        rules: &PolicyRules,
        dn: &Dn,
        held: &dyn Fn(&AttributeDescription) -> OpResult<Vec<String>>,
    ) -> OpResult<Option<QualityCheck>> {
        let module = rules.module.as_ref().filter(|_| rules.check_quality > 0);
        let Some(module) = module else {
            return Ok(None);
        };
        let rules = match module.rules() {
            Ok(rules) => rules,
            Err(reason) => {
                let kind = format!("ppolicy: {}", module.file);
                self.core.notices.warn(&*self.core.clock, &kind, || {
                    let file = &module.file;
                    format!("ppolicy: module {file:?} checks no password: {reason}")
                });
                return Ok(None);
            }
        };
        let mut texts = Vec::new();
        if rules.checks_name() {
            let avas = dn.rdn().into_iter().flat_map(|rdn| rdn.avas());
            texts.extend(avas.map(|ava| text(ava.value)));
        }
        let schema = &self.core.schema;
        let known = rules.attributes().iter();
        for attribute in known.filter_map(|name| schema.attribute(name)) {
            texts.extend(held(&AttributeDescription::plain(attribute.index))?);
        }
        Ok(Some(QualityCheck { rules, texts }))
    }

    /// Returns the values of an attribute of a stored entry.
    fn stored_texts(&self, id: EntryId, attribute: &AttributeDescription) -> OpResult<Vec<String>> {
        let entry = self.writer.entry(id);
        let entry = entry.map_err(|error| result::store(&error))?;
        let values = entry.and_then(|entry| entry.values(attribute));
        Ok(values.into_iter().flatten().map(text).collect())
    }

    /// Returns the change of the failures that the end of a lock causes. As in slapd, they go with
    /// a deleted lock, and not with a replaced one.
    fn end_of_lock(
        &self,
        id: EntryId,
        overlay: &PasswordPolicy,
        changes: &[Change],
    ) -> OpResult<Option<Change>> {
        let types = &overlay.types;
        let ends = |change: &Change| {
            change.operation == ModifyOperation::Delete
                && change.attribute.description == types.locked
        };
        let sets = |change: &Change| change.attribute.description == types.failures;
        if !changes.iter().any(ends) || changes.iter().any(sets) {
            return Ok(None);
        }
        let entry = self.writer.entry(id);
        let entry = entry.map_err(|error| result::store(&error))?;
        let failures = entry.and_then(|entry| entry.values(&types.failures));
        let ended = || types.change(StateChange::remove(StateAttribute::Failures));
        Ok(failures.map(|_| ended()))
    }

    /// Returns the facts that the rules look at.
    fn facts<'c>(
        &self,
        dn: &Dn,
        changes: &'c [Change],
        exchange: Option<&'c PasswordExchange>,
        subject: &'c PolicySubject,
    ) -> OpResult<PasswordUpdateFacts<'c>> {
        let attribute = &self.core.types.user_password;
        let passwords = || {
            let changes = changes.iter();
            changes.filter(|change| change.attribute.description == *attribute)
        };
        let added = passwords().filter(|change| adds(change));
        let given = exchange.map(|exchange| exchange.new.as_slice());
        let new = given.or(added.flat_map(slices).last().map(in_clear));
        let removes_all = |change: &Change| change.attribute.values.is_empty();
        let is_last = subject.stored.len() == 1 || passwords().any(removes_all);
        let manages = self.rights(dn, |rights| {
            rights.attribute(attribute).allows(Rights::MANAGE)
        })?;
        let name = self.session.identity().name();
        Ok(PasswordUpdateFacts {
            new,
            is_removed: new.is_none() && is_last,
            stored: &subject.stored,
            quality: None,
            compared: exchange.map(|exchange| &exchange.compared),
            old: old_password(passwords(), exchange, &subject.stored),
            is_own: name.is_some_and(|name| name.normal() == dn.normal()),
            is_administrator: manages || self.decisions.is_root(),
        })
    }

    /// Replaces a deleted password in clear by the stored value, and hashes an added one where the
    /// overlay says so. `compared` counts the values of the request that were compared with hashes.
    fn rewrite(
        &self,
        overlay: &PasswordPolicy,
        change: &mut Change,
        stored: &[Vec<u8>],
        compared: &mut usize,
    ) -> OpResult {
        if adds(change) {
            if overlay.hash_cleartext {
                self.hash(&mut change.attribute.values)?;
            }
            return Ok(());
        }
        for value in &mut change.attribute.values {
            if stored.contains(value) || *compared >= COMPARED_MAX {
                continue;
            }
            *compared += 1;
            if let Some(same) = stored.iter().find(|stored| is_same(stored, value)) {
                value.clone_from(same);
            }
        }
        Ok(())
    }

    /// Returns the passwords that a policy judges in an entry to add: those of the request. As in
    /// slapd, a value that only the name has is no password to judge.
    pub(crate) fn passwords_of(&self, entry: &Entry) -> Vec<Vec<u8>> {
        if self.features.password_policy.is_none() {
            return Vec::new();
        }
        let attribute = self.core.types.user_password.attribute;
        entry.values(attribute).to_vec()
    }

    /// Judges the passwords of an entry to add. Returns the attribute for the time of its password.
    pub(crate) fn judge_add(
        &mut self,
        entry: &Entry,
        passwords: &[Vec<u8>],
    ) -> OpResult<Option<AttributeDescription>> {
        let features = self.features;
        let overlay = features.password_policy.as_ref();
        let Some(overlay) = overlay.filter(|_| !passwords.is_empty()) else {
            return Ok(None);
        };
        self.require_time_for_hashes()?;
        let [password] = passwords else {
            // As in slapd, without the control.
            return Err(too_many().result);
        };
        let named = entry.values(overlay.types.policy.attribute).first();
        let rules = rules(self.core, self.writer, overlay, named.map(Vec::as_slice));
        let attribute = &self.core.types.user_password;
        let manages = self.rights_of(entry, |rights| {
            rights.attribute(attribute).allows(Rights::MANAGE)
        });
        if let Some(rules) = rules
            .as_ref()
            .filter(|_| !manages && !self.decisions.is_root())
        {
            let held = |attribute: &AttributeDescription| {
                let values = entry.values(attribute.attribute).iter();
                Ok(values.map(|value| text(value)).collect())
            };
            let quality = self.quality(rules, &entry.dn, &held)?;
            let checked = change_rules::check_quality(rules, in_clear(password), quality.as_ref());
            checked.map_err(|refusal| self.refused_by_policy(refusal))?;
        }
        let is_aged = rules.is_some_and(|rules| rules.max_age_s > 0 || rules.min_age_s > 0);
        let changed = &overlay.types.changed;
        let is_given = !entry.values(changed.attribute).is_empty();
        Ok((is_aged && !is_given).then(|| changed.clone()))
    }

    /// Returns an entry to add with the hashes of its passwords, where the overlay says so.
    pub(crate) fn hash_added(
        &self,
        entry: &Entry,
        passwords: &[Vec<u8>],
    ) -> OpResult<Option<Entry>> {
        let overlay = self.features.password_policy.as_ref();
        let hashes = overlay.is_some_and(|overlay| overlay.hash_cleartext);
        if !hashes || passwords.iter().all(|password| is_hashed(password)) {
            return Ok(None);
        }
        let mut hashed = entry.clone();
        if let Some(held) = hashed.attribute_mut(&self.core.types.user_password) {
            for value in &mut held.values {
                if passwords.contains(value) {
                    self.hash(std::slice::from_mut(value))?;
                }
            }
        }
        // As in slapd, a password of the name stays there in clear.
        hashed.add_missing_rdn_values(&self.core.schema);
        Ok(Some(hashed))
    }

    /// Hashes passwords in clear.
    fn hash(&self, values: &mut [Vec<u8>]) -> OpResult {
        let schemes = self.auth.schemes();
        let Some(scheme) = schemes.first() else {
            return Ok(());
        };
        for value in values.iter_mut().filter(|value| !is_hashed(value)) {
            let format = self.auth.crypt_salt_format.as_deref();
            let hashed = fulgurite_auth::hash_with(*scheme, in_clear(value), format);
            let hashed = hashed.map_err(|error| refuse(ResultCode::Other, error.to_string()))?;
            *value = hashed.into_bytes();
        }
        Ok(())
    }

    /// Leaves the update to the writer thread, because hashes take time.
    pub(crate) fn require_time_for_hashes(&mut self) -> OpResult {
        match self.budget {
            WorkBudget::Unlimited => Ok(()),
            WorkBudget::Short => Err(self.defer()),
        }
    }

    /// Returns the result of a refusal, and keeps its control for a client that wants it.
    fn refused_by_policy(&mut self, refusal: PolicyRefusal) -> LdapResult {
        if self.modifiers.password_policy {
            self.returned.password_policy = Some(refusal.response.encode());
        }
        refusal.result
    }
}

fn adds(change: &Change) -> bool {
    matches!(
        change.operation,
        ModifyOperation::Add | ModifyOperation::Replace
    )
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Returns a password without the scheme of clear text.
fn in_clear(value: &[u8]) -> &[u8] {
    fulgurite_auth::clear_text(value).unwrap_or(value)
}

fn slices(change: &Change) -> impl Iterator<Item = &[u8]> {
    change.attribute.values.iter().map(Vec::as_slice)
}

/// Compares the deleted passwords with the stored ones.
fn old_password<'c>(
    mut changes: impl Iterator<Item = &'c Change>,
    exchange: Option<&PasswordExchange>,
    stored: &[Vec<u8>],
) -> OldPassword {
    if let Some(exchange) = exchange {
        // A wrong one is refused before.
        return if exchange.has_old {
            OldPassword::Right
        } else {
            OldPassword::Missing
        };
    }
    let is_deletion = |change: &&Change| !adds(change) && !change.attribute.values.is_empty();
    let Some(deletion) = changes.find(is_deletion) else {
        return OldPassword::Missing;
    };
    let is_stored = |given: &[u8]| stored.iter().any(|stored| is_same(stored, given));
    let is_short = deletion.attribute.values.len() <= COMPARED_MAX;
    if is_short && slices(deletion).all(is_stored) {
        OldPassword::Right
    } else {
        OldPassword::Wrong
    }
}

fn too_many() -> PolicyRefusal {
    PolicyRefusal {
        result: refuse(
            ResultCode::ConstraintViolation,
            "Password policy only allows one password value",
        ),
        response: PasswordPolicyResponse::default(),
    }
}
