//! An update of a copy that goes to another server in the name of the client (RFC 4370).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_ldap::{
    Change, Control, ExtendedRequest, LdapResult, MessageId, ModifyRequest, Operation,
    PartialAttribute, Request, Response, ResponseMessage, ResultCode, UpdateBuf, encode, oid,
};

use crate::core::forwarded_bind::ForwardedBind;

/// The older form of proxied authorization, which some servers still have.
const PROXIED_AUTHORIZATION_V1: &str = "2.16.840.1.113730.3.4.12";

/// An update that another server has to make.
#[derive(Clone, PartialEq, Eq)]
pub struct ForwardedUpdate {
    pub(crate) id: MessageId,
    pub(crate) request: ForwardedRequest,
    /// The name that the other server acts for.
    pub(crate) client: String,
    /// The result for the client if no server takes the update: a referral.
    pub(crate) referral: LdapResult,
    /// The folder of the copy's store.
    pub(crate) store: PathBuf,
    /// The number of the thread that forwards updates of the copy.
    pub(crate) writer: usize,
}

/// The request of a forwarded update.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum ForwardedRequest {
    Update(UpdateBuf),
    /// A password modify, with its value and its controls.
    PasswordModify(Option<Vec<u8>>, Vec<ForwardedControl>),
    /// The changes of a bind. The server itself sends them, and no client waits.
    BindState(Arc<ForwardedBind>),
}

/// A control of a forwarded request.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ForwardedControl {
    oid: String,
    is_critical: bool,
    value: Option<Vec<u8>>,
}

// An update may have a password, so that no form for display shows it.
impl std::fmt::Debug for ForwardedUpdate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForwardedUpdate")
            .field("id", &self.id)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl ForwardedUpdate {
    /// Makes the update that tells the provider of a copy what a bind has changed. `store` is the
    /// folder of the copy, and `writer` its thread that forwards updates.
    pub(crate) fn of_bind(bind: Arc<ForwardedBind>, store: PathBuf, writer: usize) -> Self {
        ForwardedUpdate {
            id: MessageId::MAX,
            request: ForwardedRequest::BindState(bind),
            client: String::new(),
            referral: LdapResult::new(ResultCode::Referral),
            store,
            writer,
        }
    }

    /// Returns the folder of the copy's store.
    #[must_use]
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Returns the number of bytes of the update, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.request {
            ForwardedRequest::Update(update) => update.bytes(),
            ForwardedRequest::PasswordModify(value, _) => value.as_ref().map_or(0, Vec::len),
            ForwardedRequest::BindState(bind) => {
                let values = bind.changes.iter().flat_map(|change| &change.values);
                values.map(Vec::len).sum()
            }
        }
    }

    /// Returns the name of the bind whose changes these are; `None` for an update of a client.
    #[must_use]
    pub fn bound_name(&self) -> Option<&str> {
        match &self.request {
            ForwardedRequest::BindState(bind) => Some(&bind.dn),
            _ => None,
        }
    }

    /// Notes that the other server has answered. The answer to a bind waits for that.
    pub fn answered(&self) {
        if let ForwardedRequest::BindState(bind) = &self.request {
            bind.receipt.answered();
        }
    }

    /// Appends the request for the other server, under an id of that connection.
    pub fn encode(&self, id: MessageId, out: &mut Vec<u8>) {
        let client = format!("dn:{}", self.client);
        let proxied = Control::with_value(oid::PROXIED_AUTHORIZATION, true, client.as_bytes());
        match &self.request {
            ForwardedRequest::Update(update) => {
                let message = update.message();
                let own = message.controls.iter();
                let mut controls: Vec<Control<'_>> = own.filter(is_passed_on).collect();
                controls.push(proxied);
                encode::request(out, id, &message.request, &controls);
            }
            ForwardedRequest::PasswordModify(value, controls) => {
                let controls = controls.iter().map(ForwardedControl::control);
                let controls: Vec<Control<'_>> = controls.chain([proxied]).collect();
                let request = Request::Extended(ExtendedRequest {
                    oid: oid::PASSWORD_MODIFY.as_bytes(),
                    value: value.as_deref(),
                });
                encode::request(out, id, &request, &controls);
            }
            ForwardedRequest::BindState(bind) => encode_bind(bind, id, out),
        }
    }

    /// Returns the response for the client; `None` if the other server has sent no result of the
    /// update. As in slapd, the name of the matched entry is left out.
    #[must_use]
    pub fn response(&self, message: &ResponseMessage<'_>) -> Option<Vec<u8>> {
        let mut result = message.response.result()?.clone();
        result.matched_dn = String::new();
        let controls: Vec<Control<'_>> = message.controls.iter().collect();
        let mut out = Vec::new();
        match (&self.request, &message.response) {
            (ForwardedRequest::PasswordModify(..), Response::Extended { value, .. }) => {
                encode::extended_result(&mut out, self.id, &result, None, *value, &controls);
            }
            (ForwardedRequest::BindState(_), Response::Modify(_)) => {}
            (ForwardedRequest::Update(_), response) if is_result_of(response, self.operation()) => {
                encode::result(&mut out, self.id, self.operation(), &result, &controls);
            }
            _ => return None,
        }
        Some(out)
    }

    /// Returns the response of the referral.
    #[must_use]
    pub fn referred(&self) -> Vec<u8> {
        self.answer_with(&self.referral)
    }

    /// Returns the response for an update that no server has answered.
    #[must_use]
    pub fn failed(&self) -> Vec<u8> {
        // slapd's text. The other server may have made the update.
        let text = "Proxy operation retry failed";
        self.answer_with(&LdapResult::with_diagnostic(ResultCode::Unavailable, text))
    }

    fn answer_with(&self, result: &LdapResult) -> Vec<u8> {
        let mut out = Vec::new();
        match self.request {
            ForwardedRequest::Update(_) => {
                encode::result(&mut out, self.id, self.operation(), result, &[]);
            }
            ForwardedRequest::PasswordModify(..) => {
                encode::extended_result(&mut out, self.id, result, None, None, &[]);
            }
            ForwardedRequest::BindState(_) => {}
        }
        out
    }

    pub(crate) fn operation(&self) -> Operation {
        match &self.request {
            ForwardedRequest::Update(update) => update.message().request.operation(),
            ForwardedRequest::PasswordModify(..) => Operation::Extended,
            ForwardedRequest::BindState(_) => Operation::Modify,
        }
    }
}

/// Encodes the changes of a bind. As in slapd, the server sends them in its own name. The relax
/// control opens the attributes, which users do not change.
fn encode_bind(bind: &ForwardedBind, id: MessageId, out: &mut Vec<u8>) {
    let changes = bind.changes.iter();
    let values: Vec<Vec<&[u8]>> = changes
        .map(|change| change.values.iter().map(Vec::as_slice).collect())
        .collect();
    let changes = bind.changes.iter().zip(&values);
    let changes = changes.map(|(change, values)| Change {
        operation: change.operation,
        attribute: PartialAttribute::new(&change.attribute, values),
    });
    let request = Request::Modify(ModifyRequest {
        dn: bind.dn.as_bytes(),
        changes: changes.collect(),
    });
    encode::request(out, id, &request, &[Control::new(oid::RELAX, true)]);
}

impl ForwardedControl {
    pub(crate) fn new(control: &Control<'_>) -> ForwardedControl {
        ForwardedControl {
            oid: String::from_utf8_lossy(control.oid).into_owned(),
            is_critical: control.critical,
            value: control.value.map(<[u8]>::to_vec),
        }
    }

    fn control(&self) -> Control<'_> {
        match &self.value {
            Some(value) => Control::with_value(&self.oid, self.is_critical, value),
            None => Control::new(&self.oid, self.is_critical),
        }
    }
}

/// Returns false for the client's own proxied authorization: its identity is named already.
pub(crate) fn is_passed_on(control: &Control<'_>) -> bool {
    !control.is(oid::PROXIED_AUTHORIZATION) && !control.is(PROXIED_AUTHORIZATION_V1)
}

fn is_result_of(response: &Response<'_>, operation: Operation) -> bool {
    matches!(
        (response, operation),
        (Response::Add(_), Operation::Add)
            | (Response::Delete(_), Operation::Delete)
            | (Response::Modify(_), Operation::Modify)
            | (Response::ModifyDn(_), Operation::ModifyDn)
    )
}
