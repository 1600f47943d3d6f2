//! Groups in the entries of their members (slapd's overlay `memberof`).
//!
//! The attribute is computed, see [`Membership`]. This module compiles the directives. It also
//! deals with added members that name no entry: the group keeps them, loses them or is refused.

use fulgurite_ldap::{ModifyOperation, ResultCode};
use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced, result_number};
use fulgurite_schema::{
    AttributeDescription, AttributeSelector, AttributeType, Dn, Entry, EntrySubject, Filter, Schema,
};
use fulgurite_store::{EntryId, Snapshot, StoreError, View};

use super::compilation::Compilation;
use super::guard_question::{GuardContext, GuardRefusal, GuardedUpdate};
use super::refint::Refint;
use super::truth;
use crate::core::membership::Membership;
use crate::core::result::refuse;
use crate::request::change::Change;

/// The treatment of added members that name no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dangling {
    Ignore,
    Drop,
    Refuse,
}

/// The directives of the overlay.
struct Directives {
    group_class: String,
    member: AttributeDescription,
    member_of: AttributeDescription,
    dangling: Dangling,
    dangling_code: ResultCode,
    /// True if members of groups follow their entries.
    refint: bool,
    /// The author of changes of groups; `None` for the root.
    author: Option<Vec<u8>>,
}

/// Groups whose added members must name entries.
#[derive(Clone, Debug)]
pub(crate) struct ExistingMembers {
    membership: Membership,
    /// The code of a refusal.
    code: ResultCode,
}

/// The compiled overlay: each part is a feature.
pub(super) struct MemberOf {
    pub(super) membership: Membership,
    pub(super) dropped: Option<ExistingMembers>,
    pub(super) refused: Option<ExistingMembers>,
    pub(super) refint: Option<Refint>,
}

impl MemberOf {
    /// Compiles the directives of the overlay.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(
        compilation: &Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<MemberOf, Sourced<String>> {
        let schema = compilation.schema;
        let wrong = |text| Sourced::new(text, settings.origin.clone());
        let mut directives = Directives::new(schema).map_err(wrong)?;
        for line in &settings.lines {
            let taken = directives.take(schema, line);
            taken.map_err(|text| Sourced::new(text, line.origin.clone()))?;
        }
        let membership = directives.membership(schema).map_err(wrong)?;
        let members = Some(ExistingMembers {
            membership: membership.clone(),
            code: directives.dangling_code,
        });
        let (dropped, refused) = match directives.dangling {
            Dangling::Ignore => (None, None),
            Dangling::Drop => (members, None),
            Dangling::Refuse => (None, members),
        };
        let author = directives.author;
        let refint = directives.refint;
        Ok(MemberOf {
            refint: refint.then(|| Refint::of_groups(&membership, author)),
            membership,
            dropped,
            refused,
        })
    }
}

impl Directives {
    fn new(schema: &Schema) -> Result<Directives, String> {
        let find = |name: &str| {
            let found = schema.attribute(name);
            let found = found.ok_or_else(|| format!("the schema lacks the attribute {name}"));
            found.map(|definition| AttributeDescription::plain(definition.index))
        };
        Ok(Directives {
            group_class: "groupOfNames".to_owned(),
            member: find("member")?,
            member_of: find("memberOf")?,
            dangling: Dangling::Ignore,
            dangling_code: ResultCode::ConstraintViolation,
            refint: false,
            author: None,
        })
    }

    /// Applies one directive. The last one of a kind counts.
    fn take(&mut self, schema: &Schema, line: &Sourced<OverlayLine>) -> Result<(), String> {
        let keyword = line.directive.keyword;
        let what = match keyword {
            "memberof-dn" => "modifiersName",
            "memberof-dangling" => "ignore|drop|error",
            "memberof-refint" | "memberof-addcheck" => "true|FALSE",
            "memberof-group-oc" => "objectClass",
            "memberof-member-ad" => "member attribute",
            "memberof-memberof-ad" => "memberOf attribute",
            _ => "error code",
        };
        if line.arguments.is_empty() && keyword != "memberof-dn" {
            return Err(format!("keyword <{keyword}> missing <{what}> argument"));
        }
        if line.arguments.len() > 1 {
            return Err(format!("<{keyword}> extra cruft after <{what}>."));
        }
        let value = line.first();
        match keyword {
            "memberof-dn" => {
                let dn = Dn::parse(schema, value);
                let dn = dn.map_err(|_| format!("<{keyword}> invalid DN 21 (Invalid syntax)"))?;
                self.author = (!dn.is_root()).then(|| dn.pretty().as_bytes().to_vec());
            }
            "memberof-dangling" => self.dangling = dangling(keyword, value)?,
            "memberof-refint" | "memberof-addcheck" => {
                let truth = truth::parse(value).filter(|_| !value.is_empty());
                let truth = truth.ok_or_else(|| format!("<{keyword}> invalid value"))?;
                // A new entry shows the groups that name it in any case.
                if keyword == "memberof-refint" {
                    self.refint = truth;
                }
            }
            "memberof-group-oc" => value.clone_into(&mut self.group_class),
            "memberof-member-ad" => self.member = names(schema, keyword, "member", value)?,
            "memberof-memberof-ad" => self.member_of = names(schema, keyword, "memberof", value)?,
            _ => self.dangling_code = code(keyword, value)?,
        }
        Ok(())
    }

    fn membership(&self, schema: &Schema) -> Result<Membership, String> {
        let class = &self.group_class;
        let missing = || format!("unable to find group objectClass=\"{class}\".");
        let found = schema.object_class(class).ok_or_else(missing)?;
        let closure = schema.class_closure(class).ok_or_else(missing)?;
        let definition = |of: &AttributeDescription| schema.attribute_at(of.attribute);
        require_equality("memberof-member-ad", definition(&self.member))?;
        require_equality("memberof-memberof-ad", definition(&self.member_of))?;
        Ok(Membership {
            attribute: self.member_of.clone(),
            member: self.member.clone(),
            group: Filter::ObjectClass {
                attribute: AttributeDescription::plain(schema.object_class_attribute()),
                class: found.index,
                implied_by: closure.iter().map(|oid| oid.as_bytes().into()).collect(),
            },
            listed: None,
        })
    }
}

fn dangling(keyword: &str, value: &str) -> Result<Dangling, String> {
    match value.to_ascii_lowercase().as_str() {
        "ignore" => Ok(Dangling::Ignore),
        "drop" => Ok(Dangling::Drop),
        "error" => Ok(Dangling::Refuse),
        _ => Err(format!("<{keyword}> handler exited with 1!")),
    }
}

/// Reads the number of a result code, or its name in an RFC or in slapd. No refusal is a success.
fn code(keyword: &str, value: &str) -> Result<ResultCode, String> {
    let named = ResultCode::NAMED.iter().copied();
    let mut named = named.filter(|code| code.name().eq_ignore_ascii_case(value));
    let number = || result_number(value).map(ResultCode::from_number);
    match named.next().or_else(number) {
        None => Err(format!("<{keyword}> handler exited with 1!")),
        Some(ResultCode::Success) => Err(format!("<{keyword}> {value}: a refusal is no success")),
        Some(code) => Ok(code),
    }
}

/// Reads the description of an attribute whose values are names.
fn names(
    schema: &Schema,
    keyword: &str,
    kind: &str,
    value: &str,
) -> Result<AttributeDescription, String> {
    let described = schema.describe_one(value.as_bytes());
    let description = described.map_err(|error| {
        let reason = error.reason();
        format!("<{keyword}> invalid AttributeDescription 17 ({reason})")
    })?;
    let definition = schema.attribute_at(description.attribute);
    if !definition.syntax.is_name() {
        return Err(format!(
            "{kind} attribute=\"{}\" must either have DN (1.3.6.1.4.1.1466.115.121.1.12) or nameUID (1.3.6.1.4.1.1466.115.121.1.34) syntax.",
            definition.name()
        ));
    }
    Ok(description)
}

fn require_equality(keyword: &str, definition: &AttributeType) -> Result<(), String> {
    match definition.equality {
        Some(_) => Ok(()),
        None => Err(format!(
            "{keyword} {}: the attribute has no equality rule",
            definition.name()
        )),
    }
}

impl ExistingMembers {
    /// Refuses an update of a group that adds a member which names no entry.
    ///
    /// As in slapd, a new group does not exist yet and may not name itself.
    pub(super) fn check(
        &self,
        context: &GuardContext<'_, '_>,
        update: &GuardedUpdate<'_>,
    ) -> Result<(), GuardRefusal> {
        let view: &View<'_, _> = context.writer;
        let is_group = match update.before {
            None => self.is_new_group(view.schema(), update.after),
            Some(id) => self.is_group(view, id)?,
        };
        if !is_group {
            return Ok(());
        }
        let added = update.changes.iter().filter(|change| self.adds(change));
        for value in added.flat_map(|change| &change.attribute.values) {
            if !is_entry(view, value)? {
                let text = "adding non-existing object as group member";
                return Err(GuardRefusal::Result(refuse(self.code, text)));
            }
        }
        Ok(())
    }

    /// Removes members that name no entry from a group to add.
    pub(crate) fn drop_from<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        entry: &mut Entry,
    ) -> Result<(), StoreError> {
        if !self.is_new_group(view.schema(), entry) {
            return Ok(());
        }
        let member = &self.membership.member;
        if let Some(held) = entry.attribute_mut(member) {
            keep_entries(view, &mut held.values)?;
            if held.values.is_empty() {
                entry.attributes.retain(|held| held.description != *member);
            }
        }
        Ok(())
    }

    /// Removes members that name no entry from changes of an entry. A change that loses all its
    /// values is no longer made.
    pub(crate) fn drop_from_changes<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        id: EntryId,
        changes: &mut Vec<Change>,
    ) -> Result<(), StoreError> {
        if !changes.iter().any(|change| self.adds(change)) || !self.is_group(view, id)? {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(changes.len());
        for mut change in changes.drain(..) {
            if self.adds(&change) {
                keep_entries(view, &mut change.attribute.values)?;
                if change.attribute.values.is_empty() {
                    continue;
                }
            }
            kept.push(change);
        }
        *changes = kept;
        Ok(())
    }

    /// Returns true if a change adds members.
    fn adds(&self, change: &Change) -> bool {
        let adds = matches!(
            change.operation,
            ModifyOperation::Add | ModifyOperation::Replace
        );
        let Change { attribute, .. } = change;
        adds && attribute.description == self.membership.member && !attribute.values.is_empty()
    }

    fn is_new_group(&self, schema: &Schema, entry: &Entry) -> bool {
        let group: &Filter<AttributeSelector> = &self.membership.group;
        let subject = EntrySubject { schema, entry };
        group.test(schema, &subject).is_true()
    }

    fn is_group<T: Snapshot>(&self, view: &View<'_, T>, id: EntryId) -> Result<bool, StoreError> {
        let entry = view.entry(id)?;
        Ok(entry.is_some_and(|entry| self.membership.is_group(view.schema(), &entry)))
    }
}

fn keep_entries<T: Snapshot>(
    view: &View<'_, T>,
    values: &mut Vec<Vec<u8>>,
) -> Result<(), StoreError> {
    let mut kept = Vec::with_capacity(values.len());
    for value in values.drain(..) {
        if is_entry(view, &value)? {
            kept.push(value);
        }
    }
    *values = kept;
    Ok(())
}

/// Returns true if a value names an entry of the database. A name with an identifier names none.
fn is_entry<T: Snapshot>(view: &View<'_, T>, value: &[u8]) -> Result<bool, StoreError> {
    match Dn::parse_bytes(view.schema(), value) {
        Ok(dn) => Ok(view.find(&dn)?.entry().is_some()),
        Err(_) => Ok(false),
    }
}
