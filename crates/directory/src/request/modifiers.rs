//! The controls of an update, with names and filters resolved by the schema.

use fulgurite_ldap::ResultCode;
use fulgurite_schema::{AttributeSelector, Filter, Schema};

use crate::core::result::{OpResult, refuse};
use crate::request::controls::{ReadEntrySelection, RequestControls};
use crate::rights::selection::Selection;

/// The modifiers of an update.
#[derive(Clone, Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a control that is there or not"
)]
pub(crate) struct Modifiers {
    /// The update works on referral objects themselves.
    pub(crate) managed: bool,
    /// The filter that must be true of the entry.
    pub(crate) assertion: Option<Filter<AttributeSelector>>,
    /// The attributes to return of the entry before the update.
    pub(crate) pre_read: Option<Selection>,
    /// The attributes to return of the entry after the update.
    pub(crate) post_read: Option<Selection>,
    /// Adding a value that exists or deleting one that is missing succeeds.
    pub(crate) permissive: bool,
    /// A requester with the right `manage` sets attributes that the server maintains.
    pub(crate) relaxed: bool,
    /// A delete removes the whole subtree.
    pub(crate) tree_delete: bool,
    /// The update checks everything and changes nothing.
    pub(crate) no_op: bool,
    /// The client wants to know why a password policy refuses the update.
    pub(crate) password_policy: bool,
    /// The controls of the request as texts, if the database has a log for people.
    pub(crate) logged_controls: Vec<Vec<u8>>,
}

impl Modifiers {
    pub(crate) fn resolve(schema: &Schema, controls: &RequestControls<'_>) -> OpResult<Modifiers> {
        let assertion = controls.assertion.as_ref();
        let read = |reading: &Option<ReadEntrySelection<'_>>| {
            let reading = reading.as_ref();
            reading
                .map(|reading| selection(schema, reading))
                .transpose()
        };
        Ok(Modifiers {
            managed: controls.manage_dsa_it,
            assertion: assertion.map(|assert| Filter::resolve(schema, &assert.filter)),
            pre_read: read(&controls.pre_read)?,
            post_read: read(&controls.post_read)?,
            permissive: controls.permissive_modify,
            relaxed: controls.relax,
            tree_delete: controls.tree_delete,
            no_op: controls.no_op,
            password_policy: controls.password_policy,
            logged_controls: Vec::new(),
        })
    }
}

/// Resolves the attributes to return. A critical control may name only known attributes.
fn selection(schema: &Schema, reading: &ReadEntrySelection<'_>) -> OpResult<Selection> {
    if reading.critical {
        for name in &reading.attributes {
            require_known(schema, name)?;
        }
    }
    Ok(Selection::parse(schema, &reading.attributes))
}

fn require_known(schema: &Schema, name: &[u8]) -> OpResult {
    if matches!(name, b"*" | b"+" | b"1.1") {
        return Ok(());
    }
    schema.describe(name).map(drop).map_err(|error| {
        let text = error.reason();
        refuse(ResultCode::UndefinedAttributeType, text)
    })
}
