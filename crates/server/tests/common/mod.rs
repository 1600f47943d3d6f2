//! A handler of a few lines, and a client's side of a conversation with it.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod stub;

use fulgurite_ldap::{
    AddRequest, BindRequest, CancelRequest, CompareRequest, ExtendedRequest, Filter, Request,
    Response, ResponseMessage, Scope, SearchRequest, encode, frame, oid,
};
use fulgurite_ldap::{Assertion, LdapResult};

/// A request for `entries` entries of the stub.
pub(crate) fn search(id: u32, entries: &str) -> Vec<u8> {
    let filter = Filter::Present(b"objectClass");
    request(
        id,
        &Request::Search(SearchRequest::new(entries, Scope::Subtree, filter)),
    )
}

/// An update, which the stub accepts.
pub(crate) fn add(id: u32) -> Vec<u8> {
    request(
        id,
        &Request::Add(AddRequest {
            dn: b"cn=new",
            attributes: Vec::new(),
        }),
    )
}

/// A bind; the stub accepts the password `right`, slowly if the name begins with `slow`.
pub(crate) fn bind(id: u32, name: &str, password: &str) -> Vec<u8> {
    request(
        id,
        &Request::Bind(BindRequest::simple(name, password.as_bytes())),
    )
}

pub(crate) fn compare(id: u32) -> Vec<u8> {
    let assertion = Assertion {
        attribute: b"cn",
        value: b"x",
    };
    request(
        id,
        &Request::Compare(CompareRequest {
            dn: b"cn=x",
            assertion,
        }),
    )
}

pub(crate) fn who_am_i(id: u32) -> Vec<u8> {
    extended(id, oid::WHO_AM_I, None)
}

pub(crate) fn extended(id: u32, oid: &str, value: Option<&[u8]>) -> Vec<u8> {
    let oid = oid.as_bytes();
    request(id, &Request::Extended(ExtendedRequest { oid, value }))
}

pub(crate) fn cancel(id: u32, target: u32) -> Vec<u8> {
    let value = CancelRequest { id: target }.encode();
    extended(id, oid::CANCEL, Some(&value))
}

pub(crate) fn abandon(id: u32, target: u32) -> Vec<u8> {
    request(id, &Request::Abandon(target))
}

pub(crate) fn unbind(id: u32) -> Vec<u8> {
    request(id, &Request::Unbind)
}

pub(crate) fn request(id: u32, request: &Request<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode::request(&mut out, id, request, &[]);
    out
}

/// One response in short: `3 entry`, `3 search 0`, `7 whoami cn=ada`, `0 notice 2`.
pub(crate) fn describe(pdu: &[u8]) -> String {
    let message = ResponseMessage::decode(pdu).expect("the server sends valid responses");
    let code = |result: &LdapResult| result.code.number();
    let text = match &message.response {
        Response::SearchEntry(_) => "entry".to_owned(),
        Response::SearchDone(result) => format!("search {}", code(result)),
        Response::Bind { result, .. } => format!("bind {}", code(result)),
        Response::Add(result) => format!("add {}", code(result)),
        Response::Compare(result) => format!("compare {}", code(result)),
        Response::Extended { result, .. } if message.id == 0 => format!("notice {}", code(result)),
        Response::Extended {
            result,
            value: None,
            ..
        } => format!("extended {}", code(result)),
        Response::Extended { value, .. } => {
            format!(
                "whoami {}",
                String::from_utf8_lossy(value.unwrap_or_default())
            )
        }
        other => format!("{other:?}"),
    };
    format!("{} {text}", message.id)
}

/// Takes the whole PDUs from the front of `bytes`.
pub(crate) fn take_responses(bytes: &mut Vec<u8>) -> Vec<String> {
    let mut responses = Vec::new();
    while let Some(len) = frame(bytes, usize::MAX).expect("the server frames responses") {
        responses.push(describe(&bytes[..len]));
        bytes.drain(..len);
    }
    responses
}
