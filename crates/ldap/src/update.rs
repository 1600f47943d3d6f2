//! Updates that outlive the PDU they were decoded from.

use crate::request::Change;
use crate::{
    AddRequest, Controls, DeleteRequest, Message, MessageId, ModifyDnRequest, ModifyOperation,
    ModifyRequest, PartialAttribute, Request, Values,
};

/// An add, delete, modify or modify DN request that owns its bytes, lent as a [`Message`].
///
/// Made of a decoded message: nothing is decoded again when it is lent. All texts are in one block
/// of memory, which another thread frees faster than many.
#[derive(Clone, PartialEq, Eq)]
pub struct UpdateBuf {
    id: MessageId,
    request: RequestBuf,
    /// The control elements of the message.
    controls: Span,
    /// The bytes of all spans, in their order.
    bytes: Box<[u8]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RequestBuf {
    Add {
        dn: Span,
        attributes: Box<[AttributeSpans]>,
    },
    Delete {
        dn: Span,
    },
    Modify {
        dn: Span,
        changes: Box<[(ModifyOperation, AttributeSpans)]>,
    },
    ModifyDn {
        dn: Span,
        new_rdn: Span,
        delete_old_rdn: bool,
        new_superior: Option<Span>,
    },
}

/// A part of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: usize,
    to: usize,
}

/// An attribute description with its encoded values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AttributeSpans {
    description: Span,
    values: Span,
}

impl std::fmt::Debug for UpdateBuf {
    /// Shows no values, because some are passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateBuf")
            .field("id", &self.id)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl UpdateBuf {
    /// Copies a decoded message; `None` for a request that changes no entry.
    #[must_use]
    pub fn new(message: &Message<'_>) -> Option<UpdateBuf> {
        let mut bytes = Vec::with_capacity(bytes_of(message));
        let request = match &message.request {
            Request::Add(add) => RequestBuf::append_add(&mut bytes, add),
            Request::Delete(delete) => RequestBuf::Delete {
                dn: append(&mut bytes, delete.dn),
            },
            Request::Modify(modify) => RequestBuf::Modify {
                dn: append(&mut bytes, modify.dn),
                changes: modify
                    .changes
                    .iter()
                    .map(|change| {
                        let spans = AttributeSpans::append(&mut bytes, &change.attribute);
                        (change.operation, spans)
                    })
                    .collect(),
            },
            Request::ModifyDn(rename) => RequestBuf::ModifyDn {
                dn: append(&mut bytes, rename.dn),
                new_rdn: append(&mut bytes, rename.new_rdn),
                delete_old_rdn: rename.delete_old_rdn,
                new_superior: rename.new_superior.map(|dn| append(&mut bytes, dn)),
            },
            _ => return None,
        };
        let controls = append(&mut bytes, message.controls.encoded());
        Some(UpdateBuf {
            id: message.id,
            request,
            controls,
            bytes: bytes.into(),
        })
    }

    /// Copies an add that has no controls, to be sent as a message of any id.
    #[must_use]
    pub fn add(request: &AddRequest<'_>) -> UpdateBuf {
        let mut bytes = Vec::with_capacity(bytes_of_add(request));
        let request = RequestBuf::append_add(&mut bytes, request);
        let controls = append(&mut bytes, &[]);
        UpdateBuf {
            id: 0,
            request,
            controls,
            bytes: bytes.into(),
        }
    }

    /// The message, borrowed.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        let request = match &self.request {
            RequestBuf::Add { dn, attributes } => Request::Add(AddRequest {
                dn: self.part(*dn),
                attributes: attributes
                    .iter()
                    .map(|spans| self.attribute(*spans))
                    .collect(),
            }),
            RequestBuf::Delete { dn } => Request::Delete(DeleteRequest { dn: self.part(*dn) }),
            RequestBuf::Modify { dn, changes } => {
                let changes = changes.iter().map(|(operation, spans)| Change {
                    operation: *operation,
                    attribute: self.attribute(*spans),
                });
                Request::Modify(ModifyRequest {
                    dn: self.part(*dn),
                    changes: changes.collect(),
                })
            }
            RequestBuf::ModifyDn {
                dn,
                new_rdn,
                delete_old_rdn,
                new_superior,
            } => Request::ModifyDn(ModifyDnRequest {
                dn: self.part(*dn),
                new_rdn: self.part(*new_rdn),
                delete_old_rdn: *delete_old_rdn,
                new_superior: new_superior.map(|dn| self.part(dn)),
            }),
        };
        Message {
            id: self.id,
            request,
            controls: Controls::from_validated(self.part(self.controls)),
        }
    }

    /// The number of bytes of its names, values and controls.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true for a delete request.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        matches!(self.request, RequestBuf::Delete { .. })
    }

    /// The number of bytes of the values that it gives to an entry.
    #[must_use]
    pub fn new_bytes(&self) -> usize {
        let value_bytes = |spans: &AttributeSpans| {
            let values = self.attribute(*spans).values;
            values.iter().map(<[u8]>::len).sum::<usize>()
        };
        match &self.request {
            RequestBuf::Add { attributes, .. } => attributes.iter().map(value_bytes).sum(),
            RequestBuf::Modify { changes, .. } => {
                let stores = |operation| {
                    matches!(operation, ModifyOperation::Add | ModifyOperation::Replace)
                };
                let changes = changes.iter().filter(|(operation, _)| stores(*operation));
                changes.map(|(_, spans)| value_bytes(spans)).sum()
            }
            RequestBuf::Delete { .. } | RequestBuf::ModifyDn { .. } => 0,
        }
    }

    fn attribute(&self, spans: AttributeSpans) -> PartialAttribute<'_> {
        PartialAttribute {
            description: self.part(spans.description),
            values: Values::from_validated(self.part(spans.values)),
        }
    }

    fn part(&self, span: Span) -> &[u8] {
        let part = self.bytes.get(span.from..span.to);
        debug_assert!(part.is_some(), "all spans are of these bytes");
        part.unwrap_or_default()
    }
}

impl RequestBuf {
    fn append_add(bytes: &mut Vec<u8>, add: &AddRequest<'_>) -> RequestBuf {
        let dn = append(bytes, add.dn);
        let attributes = add.attributes.iter();
        let attributes = attributes.map(|attribute| AttributeSpans::append(bytes, attribute));
        RequestBuf::Add {
            dn,
            attributes: attributes.collect(),
        }
    }
}

impl AttributeSpans {
    fn append(bytes: &mut Vec<u8>, attribute: &PartialAttribute<'_>) -> AttributeSpans {
        let description = append(bytes, attribute.description);
        let from = bytes.len();
        attribute.values.append_encoded(bytes);
        let to = bytes.len();
        let values = Span { from, to };
        AttributeSpans {
            description,
            values,
        }
    }
}

fn append(bytes: &mut Vec<u8>, part: &[u8]) -> Span {
    let from = bytes.len();
    bytes.extend_from_slice(part);
    let to = bytes.len();
    Span { from, to }
}

/// Returns the number of bytes that a copy of a decoded message has.
fn bytes_of(message: &Message<'_>) -> usize {
    let request = match &message.request {
        Request::Add(add) => bytes_of_add(add),
        Request::Delete(delete) => delete.dn.len(),
        Request::Modify(modify) => {
            let changes = modify.changes.iter();
            let changes = changes.map(|change| bytes_of_attribute(&change.attribute));
            modify.dn.len() + changes.sum::<usize>()
        }
        Request::ModifyDn(rename) => {
            rename.dn.len() + rename.new_rdn.len() + rename.new_superior.map_or(0, <[u8]>::len)
        }
        _ => 0,
    };
    request + message.controls.encoded().len()
}

fn bytes_of_add(add: &AddRequest<'_>) -> usize {
    add.dn.len() + add.attributes.iter().map(bytes_of_attribute).sum::<usize>()
}

fn bytes_of_attribute(attribute: &PartialAttribute<'_>) -> usize {
    attribute.description.len() + attribute.values.encoded_len()
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
            if let Request::Add(add) = request {
                assert_eq!(UpdateBuf::add(add).message().request, *request);
            }
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
