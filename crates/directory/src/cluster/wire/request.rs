//! An update as bytes.

use std::sync::Arc;

use fulgurite_ldap::{Control, Limits, Message, MessageId, ModifyOperation, UpdateBuf, encode};
use fulgurite_schema::{Attribute, Dn, Schema};

use super::bytes::{Reader, WireError, put_bytes, put_list, put_optional};
use super::session;
use crate::features::password_policy::change_rules::Comparisons;
use crate::request::change::Change;
use crate::write::request::{
    BindAttempt, PasswordExchange, PasswordUpdate, WriteRequest, WriteWork,
};

/// The format of these bytes.
const FORMAT: u8 = 1;

const UPDATE: u8 = 0;
const TRANSACTION: u8 = 1;
const PASSWORD: u8 = 2;
const BIND: u8 = 3;
const ATTEMPT: u8 = 4;

impl WriteRequest {
    /// Returns the bytes of an update for the sequencer of its cluster.
    ///
    /// # Panics
    /// For an update that the provider of a copy makes: a database of a cluster is no copy.
    #[must_use]
    pub fn to_wire(&self, schema: &Schema) -> Vec<u8> {
        let mut out = vec![FORMAT];
        session::put(&mut out, &self.session);
        match &self.work {
            WriteWork::Update(update) => {
                out.push(UPDATE);
                put_update(&mut out, update);
            }
            WriteWork::Transaction(id, updates) => {
                out.push(TRANSACTION);
                out.extend(id.to_be_bytes());
                put_list(&mut out, updates.iter(), put_update);
            }
            WriteWork::Password(update) => {
                out.push(PASSWORD);
                put_password(&mut out, update, schema);
            }
            WriteWork::Bind(name) => {
                out.push(BIND);
                put_bytes(&mut out, name.pretty().as_bytes());
            }
            WriteWork::Attempt(attempt) => {
                out.push(ATTEMPT);
                put_bytes(&mut out, attempt.dn.pretty().as_bytes());
                out.push(u8::from(attempt.is_right));
                out.push(u8::from(attempt.is_judged));
            }
            WriteWork::Forward(_) => unreachable!("a database of a cluster is no copy"),
        }
        out
    }

    /// Reads an update that another node has sent.
    ///
    /// # Errors
    /// [`WireError`], also for a name that this schema does not know.
    pub fn from_wire(schema: &Schema, bytes: &[u8]) -> Result<WriteRequest, WireError> {
        let mut reader = Reader(bytes);
        if reader.byte()? != FORMAT {
            return Err(WireError("its format is of another version"));
        }
        let session = session::read(&mut reader)?;
        let work = match reader.byte()? {
            UPDATE => WriteWork::Update(update(&mut reader)?),
            TRANSACTION => {
                let id: MessageId = reader.word()?;
                let updates = reader.list(update)?;
                if updates.is_empty() {
                    return Err(WireError("a transaction is empty"));
                }
                WriteWork::Transaction(id, updates)
            }
            PASSWORD => WriteWork::Password(Box::new(password(&mut reader, schema)?)),
            BIND => WriteWork::Bind(dn(&mut reader, schema)?),
            ATTEMPT => {
                let dn = dn(&mut reader, schema)?;
                let (is_right, is_judged) = (reader.truth()?, reader.truth()?);
                WriteWork::Attempt(Arc::new(BindAttempt::new(dn, is_right, is_judged)))
            }
            _ => return Err(WireError("the kind of an update is unknown")),
        };
        reader.end()?;
        Ok(WriteRequest::of(&session, work))
    }
}

fn put_update(out: &mut Vec<u8>, update: &UpdateBuf) {
    let message = update.message();
    let controls: Vec<Control<'_>> = message.controls.iter().collect();
    let mut bytes = Vec::new();
    encode::request(&mut bytes, message.id, &message.request, &controls);
    put_bytes(out, &bytes);
}

fn update(reader: &mut Reader<'_>) -> Result<UpdateBuf, WireError> {
    let message = Message::decode(reader.bytes()?, &Limits::default());
    let message = message.map_err(|_| WireError("an update is no LDAP message"))?;
    UpdateBuf::new(&message).ok_or(WireError("a request changes no entry"))
}

fn dn(reader: &mut Reader<'_>, schema: &Schema) -> Result<Dn, WireError> {
    Dn::parse(schema, reader.text()?).map_err(|_| WireError("a name is none"))
}

fn put_password(out: &mut Vec<u8>, update: &PasswordUpdate, schema: &Schema) {
    out.extend(update.id.to_be_bytes());
    put_bytes(out, update.dn.pretty().as_bytes());
    for changes in [&update.changes, &update.derived] {
        put_list(out, changes.iter(), |out, change| {
            put_change(out, change, schema);
        });
    }
    put_optional(out, update.value.as_deref(), put_bytes);
    let exchange = &update.exchange;
    put_bytes(out, &exchange.new);
    out.push(u8::from(exchange.has_old));
    put_list(out, exchange.compared.pairs(), |out, (stored, is_same)| {
        put_bytes(out, stored);
        out.push(u8::from(*is_same));
    });
    out.push(u8::from(update.wants_policy));
}

fn password(reader: &mut Reader<'_>, schema: &Schema) -> Result<PasswordUpdate, WireError> {
    let id = reader.word()?;
    let dn = dn(reader, schema)?;
    let changes = reader.list(|reader| change(reader, schema))?;
    if changes.is_empty() {
        return Err(WireError("a new password is missing"));
    }
    Ok(PasswordUpdate {
        id,
        dn,
        changes,
        derived: reader.list(|reader| change(reader, schema))?,
        value: reader.optional(|reader| reader.bytes().map(<[u8]>::to_vec))?,
        exchange: PasswordExchange {
            new: reader.bytes()?.to_vec(),
            has_old: reader.truth()?,
            compared: Comparisons::from_pairs(
                reader.list(|reader| Ok((reader.bytes()?.to_vec(), reader.truth()?)))?,
            ),
        },
        wants_policy: reader.truth()?,
    })
}

fn put_change(out: &mut Vec<u8>, change: &Change, schema: &Schema) {
    out.push(change.operation.number());
    let description = change.attribute.description.text(schema);
    put_bytes(out, description.as_bytes());
    put_list(out, change.attribute.values.iter(), |out, value| {
        put_bytes(out, value);
    });
}

fn change(reader: &mut Reader<'_>, schema: &Schema) -> Result<Change, WireError> {
    let operation = match reader.byte()? {
        0 => ModifyOperation::Add,
        1 => ModifyOperation::Delete,
        2 => ModifyOperation::Replace,
        3 => ModifyOperation::Increment,
        _ => return Err(WireError("the kind of a change is unknown")),
    };
    let description = schema.describe(reader.bytes()?);
    let description = description.map_err(|_| WireError("an attribute is unknown here"))?;
    let values = reader.list(|reader| reader.bytes().map(<[u8]>::to_vec))?;
    Ok(Change {
        operation,
        attribute: Attribute {
            description,
            values,
        },
    })
}
