//! An update of a copy that goes to another server in the name of the client (RFC 4370).

use std::path::{Path, PathBuf};

use fulgurite_ldap::{
    Control, ExtendedRequest, LdapResult, MessageId, Operation, Request, Response, ResponseMessage,
    ResultCode, UpdateBuf, encode, oid,
};

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
        self.answered(&self.referral)
    }

    /// Returns the response for an update that no server has answered.
    #[must_use]
    pub fn failed(&self) -> Vec<u8> {
        // slapd's text. The other server may have made the update.
        let text = "Proxy operation retry failed";
        self.answered(&LdapResult::with_diagnostic(ResultCode::Unavailable, text))
    }

    fn answered(&self, result: &LdapResult) -> Vec<u8> {
        let mut out = Vec::new();
        match self.request {
            ForwardedRequest::Update(_) => {
                encode::result(&mut out, self.id, self.operation(), result, &[]);
            }
            ForwardedRequest::PasswordModify(..) => {
                encode::extended_result(&mut out, self.id, result, None, None, &[]);
            }
        }
        out
    }

    pub(crate) fn operation(&self) -> Operation {
        match &self.request {
            ForwardedRequest::Update(update) => update.message().request.operation(),
            ForwardedRequest::PasswordModify(..) => Operation::Extended,
        }
    }
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
