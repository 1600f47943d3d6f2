//! What the controls of an update mean, once names and filters have been looked up in the schema.

use fulgurite_ldap::ResultCode;
use fulgurite_schema::{AttributeSelector, Filter, Schema};

use crate::core::result::{OpResult, refuse};
use crate::request::controls::{ReadEntrySelection, RequestControls};
use crate::rights::selection::Selection;

/// How an update is to be done.
#[derive(Clone, Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a control that is there or not"
)]
pub(crate) struct Modifiers {
    /// Referral objects are meant themselves.
    pub(crate) managed: bool,
    /// What has to be true of the entry.
    pub(crate) assertion: Option<Filter<AttributeSelector>>,
    /// What to return of the entry as it was.
    pub(crate) pre_read: Option<Selection>,
    /// What to return of the entry as it has become.
    pub(crate) post_read: Option<Selection>,
    /// Adding what is there and deleting what is not are no mistakes.
    pub(crate) permissive: bool,
    /// Whoever may manage an attribute sets it although the server keeps it.
    pub(crate) relaxed: bool,
    /// Everything below the entry goes with it.
    pub(crate) tree_delete: bool,
    /// Everything is checked, nothing is done.
    pub(crate) no_op: bool,
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
        })
    }
}

/// The attributes to return. In a critical control a name that means nothing is a mistake.
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
