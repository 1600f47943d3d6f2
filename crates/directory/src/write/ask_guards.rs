//! The point `guard`: the features that may refuse an update are asked.

use fulgurite_access::Rights;
use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::{Attribute, AttributeDescription, Ava, Dn, Entry};
use fulgurite_store::{EntryId, View};

use crate::core::result::{self, OpResult};
use crate::core::session::Identity;
use crate::features::guard_question::{GuardContext, GuardRefusal, GuardedUpdate};
use crate::features::set::GuardTurn;
use crate::request::change::Change;
use crate::write::context::{Context, WorkBudget};

impl Context<'_, '_> {
    /// Returns an entry to add without members that name no entry, if the database drops them.
    pub(crate) fn drop_members_of(&self, entry: &Entry) -> OpResult<Option<Entry>> {
        if self.features.dropped_members.is_empty() || self.modifiers.relaxed {
            return Ok(None);
        }
        let view: &View<'_, _> = self.writer;
        let mut remaining = entry.clone();
        let mut features = self.features.dropped_members.iter();
        let dropped = features.try_for_each(|members| members.drop_from(view, &mut remaining));
        dropped.map_err(|error| result::store(&error))?;
        Ok(Some(remaining))
    }

    /// Returns the remaining changes of a group, if the database drops members that name no entry.
    pub(crate) fn drop_members(
        &self,
        id: EntryId,
        changes: &[Change],
    ) -> OpResult<Option<Vec<Change>>> {
        if self.features.dropped_members.is_empty() || self.modifiers.relaxed {
            return Ok(None);
        }
        let view: &View<'_, _> = self.writer;
        let mut remaining = changes.to_vec();
        let mut features = self.features.dropped_members.iter();
        let dropped =
            features.try_for_each(|members| members.drop_from_changes(view, id, &mut remaining));
        dropped.map_err(|error| result::store(&error))?;
        Ok(Some(remaining))
    }

    /// Refuses values without the weight that the database's order of values needs.
    pub(crate) fn require_weights<'a>(
        &self,
        dn: &Dn,
        attributes: impl Iterator<Item = &'a Attribute> + Clone,
    ) -> OpResult {
        let mut weights = self.features.weights.iter();
        weights.try_for_each(|weights| weights.check(dn, attributes.clone()))
    }

    /// Asks the guards of a turn about an entry to add.
    pub(crate) fn guard_add(&mut self, entry: &Entry, turn: GuardTurn) -> OpResult {
        if self.features.guards_of(turn).is_empty() {
            return Ok(());
        }
        let added = entry.attributes.iter().cloned().map(added);
        let changes: Vec<Change> = added.collect();
        let update = GuardedUpdate {
            is_rename: false,
            operation: "add",
            dn: &entry.dn,
            before: None,
            changes: &changes,
            after: entry,
        };
        self.guard(&update, turn)
    }

    /// Asks the guards of a turn about changes of an entry.
    pub(crate) fn guard_modify(
        &mut self,
        id: EntryId,
        changes: &[Change],
        after: &Entry,
        turn: GuardTurn,
    ) -> OpResult {
        if self.features.guards_of(turn).is_empty() {
            return Ok(());
        }
        let update = GuardedUpdate {
            is_rename: false,
            operation: "modify",
            dn: &after.dn,
            before: Some(id),
            changes,
            after,
        };
        self.guard(&update, turn)
    }

    /// Asks the guards about a new name of an entry, whose values are added.
    pub(crate) fn guard_rename(&mut self, id: EntryId, dn: &Dn, after: &Entry) -> OpResult {
        if self.features.guards.is_empty() {
            return Ok(());
        }
        let avas = after.dn.rdn().into_iter().flat_map(|rdn| rdn.avas());
        let mut avas: Vec<_> = avas.collect();
        let name = |ava: &Ava<'_>| self.core.schema.attribute_at(ava.attribute).name();
        avas.sort_by(|one, other| name(one).cmp(name(other)));
        let added = avas.into_iter().map(|ava| {
            added(Attribute {
                description: AttributeDescription::plain(ava.attribute),
                values: vec![ava.value.to_vec()],
            })
        });
        let changes: Vec<Change> = added.collect();
        let update = GuardedUpdate {
            is_rename: true,
            operation: "modify",
            dn,
            before: Some(id),
            changes: &changes,
            after,
        };
        self.guard(&update, GuardTurn::All)
    }

    fn guard(&mut self, update: &GuardedUpdate<'_>, turn: GuardTurn) -> OpResult {
        if self.modifiers.relaxed && self.manages(update)? {
            return Ok(());
        }
        let user = match self.session.identity() {
            Identity::User(name) => name.normal(),
            Identity::Anonymous => "",
        };
        let mut context = GuardContext {
            core: self.core,
            database: self.database,
            writer: self.writer,
            user,
            short: self.budget == WorkBudget::Short,
        };
        for guard in self.features.guards_of(turn) {
            match guard.check(&mut context, update) {
                Ok(()) => {}
                Err(GuardRefusal::Result(refused)) => return Err(refused),
                Err(GuardRefusal::TooLong) => return Err(self.defer()),
            }
        }
        Ok(())
    }

    /// Returns true if the requester has the right `manage` to the entry.
    fn manages(&self, update: &GuardedUpdate<'_>) -> OpResult<bool> {
        match update.before {
            None => {
                Ok(self.rights_of(update.after, |rights| rights.entry().allows(Rights::MANAGE)))
            }
            Some(_) => self.rights(update.dn, |rights| rights.entry().allows(Rights::MANAGE)),
        }
    }
}

fn added(attribute: Attribute) -> Change {
    Change {
        operation: ModifyOperation::Add,
        attribute,
    }
}
