//! A reply as bytes, with the effects that it has at the node of the client.

use std::path::Path;
use std::sync::Arc;

use fulgurite_ldap::control::PasswordPolicyResponse;
use fulgurite_ldap::{LdapResult, ResultCode};

use super::bytes::{Reader, WireError, put_bytes, put_list, put_optional};
use crate::core::session::Session;
use crate::features::auditlog::AuditText;
use crate::features::password_policy::bind_verdict::BindVerdict;
use crate::write::request::{BindAttempt, WriteReply, WriteRequest, WriteWork};

/// The reply to an update that a cluster has ordered, and what the node of its client does with it.
#[derive(Clone, Debug)]
pub struct OrderedReply {
    reply: WriteReply,
    source: Source,
}

/// The source of the other effects.
#[derive(Clone, Debug)]
enum Source {
    /// The session and the bind that the update had at the sequencer. The commit changes them.
    Here(Box<Session>, Option<Arc<BindAttempt>>),
    /// The message of the sequencer.
    Message {
        is_freed: bool,
        verdict: Option<BindVerdict>,
    },
}

impl OrderedReply {
    /// Keeps a reply together with the request that it is for.
    #[must_use]
    pub fn new(reply: WriteReply, request: &WriteRequest) -> OrderedReply {
        let attempt = match &request.work {
            WriteWork::Attempt(attempt) => Some(Arc::clone(attempt)),
            _ => None,
        };
        OrderedReply {
            reply,
            source: Source::Here(Box::new(request.session.clone()), attempt),
        }
    }

    /// Returns the code of the result.
    #[must_use]
    pub fn code(&self) -> u32 {
        self.reply.result.code.number()
    }

    /// Returns the reply for the client of a request. The session of the request is freed, and its
    /// bind judged, as the sequencer has done it.
    #[must_use]
    pub fn for_client(self, request: &WriteRequest) -> WriteReply {
        if let Source::Message { is_freed, verdict } = self.source {
            if is_freed {
                request.session.password_has_changed();
            }
            if let (WriteWork::Attempt(attempt), Some(verdict)) = (&request.work, verdict) {
                attempt.set_verdict(verdict);
            }
        }
        self.reply
    }

    /// Returns the bytes for another node. The batch is committed.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let result = &self.reply.result;
        out.extend(result.code.number().to_be_bytes());
        put_bytes(&mut out, result.matched_dn.as_bytes());
        put_bytes(&mut out, result.diagnostic.as_bytes());
        put_list(&mut out, result.referrals.iter(), |out, url| {
            put_bytes(out, url.as_bytes());
        });
        put_bytes(&mut out, &self.reply.bytes);
        put_optional(&mut out, self.reply.audit.as_ref(), |out, audit| {
            put_bytes(out, audit.file.to_string_lossy().as_bytes());
            out.push(u8::from(audit.nonblocking));
            out.push(u8::from(audit.durable));
            put_bytes(out, &audit.text);
        });
        let (is_freed, verdict) = match &self.source {
            Source::Here(session, attempt) => {
                let verdict = attempt.as_ref().and_then(|attempt| attempt.verdict());
                (session.has_been_freed(), verdict)
            }
            Source::Message { is_freed, verdict } => (*is_freed, verdict.clone()),
        };
        out.push(u8::from(is_freed));
        put_optional(&mut out, verdict.as_ref(), put_verdict);
        out
    }

    /// Reads a reply of the sequencer.
    ///
    /// # Errors
    /// [`WireError`].
    pub fn from_wire(bytes: &[u8]) -> Result<OrderedReply, WireError> {
        let mut reader = Reader(bytes);
        let result = LdapResult {
            code: ResultCode::from_number(reader.word()?),
            matched_dn: reader.text()?.to_owned(),
            diagnostic: reader.text()?.to_owned(),
            referrals: reader.list(|reader| reader.text().map(str::to_owned))?,
        };
        let reply = WriteReply {
            result,
            bytes: reader.bytes()?.to_vec(),
            audit: reader.optional(|reader| {
                Ok(AuditText {
                    file: Path::new(reader.text()?).into(),
                    nonblocking: reader.truth()?,
                    durable: reader.truth()?,
                    text: reader.bytes()?.to_vec(),
                })
            })?,
        };
        let source = Source::Message {
            is_freed: reader.truth()?,
            verdict: reader.optional(verdict)?,
        };
        reader.end()?;
        Ok(OrderedReply { reply, source })
    }
}

/// Writes a verdict without its changes, which are made.
fn put_verdict(out: &mut Vec<u8>, verdict: &BindVerdict) {
    for is_so in [
        verdict.is_allowed,
        verdict.is_locked,
        verdict.must_change,
        verdict.is_expired,
    ] {
        out.push(u8::from(is_so));
    }
    put_bytes(out, &verdict.response.encode());
}

fn verdict(reader: &mut Reader<'_>) -> Result<BindVerdict, WireError> {
    Ok(BindVerdict {
        is_allowed: reader.truth()?,
        is_locked: reader.truth()?,
        must_change: reader.truth()?,
        is_expired: reader.truth()?,
        response: PasswordPolicyResponse::decode(reader.bytes()?)
            .map_err(|_| WireError("the response of a policy is none"))?,
        changes: Vec::new(),
    })
}
