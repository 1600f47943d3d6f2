//! Updates that outlive the PDU they were decoded from.

use crate::request::Change;
use crate::{
    AddRequest, Controls, DeleteRequest, Message, MessageId, ModifyDnRequest, ModifyOperation,
    ModifyRequest, PartialAttribute, Request, Values,
};

/// An add, delete, modify or modify DN request that owns its bytes, lent as a [`Message`].
///
/// Made of a decoded message: nothing is decoded again when it is lent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateBuf {
    id: MessageId,
    request: RequestBuf,
    /// The control elements of the message.
    controls: Box<[u8]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RequestBuf {
    Add {
        dn: Box<[u8]>,
        attributes: Vec<AttributeBuf>,
    },
    Delete {
        dn: Box<[u8]>,
    },
    Modify {
        dn: Box<[u8]>,
        changes: Vec<(ModifyOperation, AttributeBuf)>,
    },
    ModifyDn {
        dn: Box<[u8]>,
        new_rdn: Box<[u8]>,
        delete_old_rdn: bool,
        new_superior: Option<Box<[u8]>>,
    },
}

/// An attribute description with its encoded values.
#[derive(Clone, PartialEq, Eq)]
struct AttributeBuf {
    description: Box<[u8]>,
    values: Box<[u8]>,
}

impl std::fmt::Debug for AttributeBuf {
    /// Shows no values, because some are passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, bytes) = (self.description.escape_ascii(), self.values.len());
        write!(f, "{name} ({bytes} bytes)")
    }
}

impl UpdateBuf {
    /// Copies a decoded message; `None` for a request that changes no entry.
    #[must_use]
    pub fn new(message: &Message<'_>) -> Option<UpdateBuf> {
        let request = match &message.request {
            Request::Add(add) => RequestBuf::Add {
                dn: add.dn.into(),
                attributes: add.attributes.iter().map(AttributeBuf::new).collect(),
            },
            Request::Delete(delete) => RequestBuf::Delete {
                dn: delete.dn.into(),
            },
            Request::Modify(modify) => {
                let changes = modify.changes.iter();
                let changes =
                    changes.map(|change| (change.operation, AttributeBuf::new(&change.attribute)));
                RequestBuf::Modify {
                    dn: modify.dn.into(),
                    changes: changes.collect(),
                }
            }
            Request::ModifyDn(rename) => RequestBuf::ModifyDn {
                dn: rename.dn.into(),
                new_rdn: rename.new_rdn.into(),
                delete_old_rdn: rename.delete_old_rdn,
                new_superior: rename.new_superior.map(Box::from),
            },
            _ => return None,
        };
        Some(UpdateBuf {
            id: message.id,
            request,
            controls: message.controls.encoded().into(),
        })
    }

    /// The message, borrowed.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        let request = match &self.request {
            RequestBuf::Add { dn, attributes } => Request::Add(AddRequest {
                dn,
                attributes: attributes.iter().map(AttributeBuf::attribute).collect(),
            }),
            RequestBuf::Delete { dn } => Request::Delete(DeleteRequest { dn }),
            RequestBuf::Modify { dn, changes } => {
                let changes = changes.iter().map(|(operation, attribute)| Change {
                    operation: *operation,
                    attribute: attribute.attribute(),
                });
                Request::Modify(ModifyRequest {
                    dn,
                    changes: changes.collect(),
                })
            }
            RequestBuf::ModifyDn {
                dn,
                new_rdn,
                delete_old_rdn,
                new_superior,
            } => Request::ModifyDn(ModifyDnRequest {
                dn,
                new_rdn,
                delete_old_rdn: *delete_old_rdn,
                new_superior: new_superior.as_deref(),
            }),
        };
        Message {
            id: self.id,
            request,
            controls: Controls::from_validated(&self.controls),
        }
    }

    /// The number of bytes of its names, values and controls.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let request = match &self.request {
            RequestBuf::Add { dn, attributes } => {
                dn.len() + attributes.iter().map(AttributeBuf::bytes).sum::<usize>()
            }
            RequestBuf::Delete { dn } => dn.len(),
            RequestBuf::Modify { dn, changes } => {
                let changes = changes.iter().map(|(_, attribute)| attribute.bytes());
                dn.len() + changes.sum::<usize>()
            }
            RequestBuf::ModifyDn {
                dn,
                new_rdn,
                new_superior,
                ..
            } => dn.len() + new_rdn.len() + new_superior.as_ref().map_or(0, |dn| dn.len()),
        };
        request + self.controls.len()
    }

    /// Returns true for a delete request.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        matches!(self.request, RequestBuf::Delete { .. })
    }

    /// The number of bytes of the values that it gives to an entry.
    #[must_use]
    pub fn new_bytes(&self) -> usize {
        match &self.request {
            RequestBuf::Add { attributes, .. } => {
                attributes.iter().map(AttributeBuf::value_bytes).sum()
            }
            RequestBuf::Modify { changes, .. } => {
                let stores = |operation| {
                    matches!(operation, ModifyOperation::Add | ModifyOperation::Replace)
                };
                let changes = changes.iter().filter(|(operation, _)| stores(*operation));
                changes.map(|(_, attribute)| attribute.value_bytes()).sum()
            }
            RequestBuf::Delete { .. } | RequestBuf::ModifyDn { .. } => 0,
        }
    }
}

impl AttributeBuf {
    fn new(attribute: &PartialAttribute<'_>) -> AttributeBuf {
        AttributeBuf {
            description: attribute.description.into(),
            values: attribute.values.to_encoded(),
        }
    }

    fn attribute(&self) -> PartialAttribute<'_> {
        PartialAttribute {
            description: &self.description,
            values: Values::from_validated(&self.values),
        }
    }

    fn value_bytes(&self) -> usize {
        let values = Values::from_validated(&self.values);
        values.iter().map(<[u8]>::len).sum()
    }

    fn bytes(&self) -> usize {
        self.description.len() + self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Limits, encode};

    #[test]
    fn a_copied_update_lends_the_message_it_was_made_of() {
        let values: [&[u8]; 2] = [b"one", b""];
        let attribute = PartialAttribute::new("cn", &values);
        let requests = [
            Request::Add(AddRequest {
                dn: b"cn=one",
                attributes: vec![attribute],
            }),
            Request::Delete(DeleteRequest { dn: b"cn=one" }),
            Request::Modify(ModifyRequest {
                dn: b"cn=one",
                changes: vec![Change::replace("cn", &values), Change::delete("sn", &[])],
            }),
            Request::ModifyDn(ModifyDnRequest {
                dn: b"cn=one",
                new_rdn: b"cn=two",
                delete_old_rdn: true,
                new_superior: Some(b"dc=com"),
            }),
        ];
        for request in &requests {
            let mut pdu = Vec::new();
            encode::request(&mut pdu, 7, request, &[Control::new("1.2.3", true)]);
            let decoded = Message::decode(&pdu, &Limits::default()).expect("a message");
            let update = UpdateBuf::new(&decoded).expect("an update");
            assert_eq!(update.message(), decoded);
            assert!(update.bytes() <= pdu.len());
            // A derived form has a number for each byte.
            assert!(!format!("{update:?}").contains("4, 3, 111"), "a value");
            let built = Message {
                id: 7,
                request: request.clone(),
                controls: decoded.controls,
            };
            assert_eq!(UpdateBuf::new(&built), Some(update));
        }
    }

    #[test]
    fn a_request_that_changes_nothing_is_no_update() {
        let message = Message {
            id: 1,
            request: Request::Unbind,
            controls: Controls::NONE,
        };
        assert_eq!(UpdateBuf::new(&message), None);
    }
}
