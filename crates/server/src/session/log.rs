//! One line per operation, in the words that readers of slapd's log know.
//!
//! ```text
//! conn=7 op=2 SRCH base="dc=example,dc=org" scope=2 deref=0 filter="(uid=ada)" attrs="cn mail"
//!     RESULT tag=101 err=0 qtime=0.000004 etime=0.000052 nentries=1 text=""      (all on one line)
//! ```
//!
//! A failed bind has its reason behind that, which the client does not learn.
//!
//! The log reads results back from the encoded responses, so handlers need not know about logs. It
//! never contains passwords. Binds are logged without credentials, updates without values, and
//! assertions about passwords are masked.

use std::fmt::{self, Write as _};
use std::time::Instant;

use fulgurite_ldap::control::SessionTracking;
use fulgurite_ldap::{
    Authentication, BindRequest, Controls, LdapResult, Message, MessageId, Operation, Request,
    Response, ResponseMessage, SearchRequest, frame, oid,
};

use super::last_code::response_tag;

/// The sink of log lines about operations, and their clock.
pub trait OperationLog: Sync {
    /// Takes one line, without its end.
    fn line(&self, line: &str);

    /// Returns the time, for durations within one operation.
    fn now(&self) -> Instant;
}

/// The log of one connection. Without a sink it only counts the operations.
pub(super) struct ConnectionLog<'h> {
    sink: Option<&'h dyn OperationLog>,
    connection: u64,
    operations: u64,
}

/// Data about an operation until it has a result.
#[derive(Debug)]
pub(super) struct OperationRecord {
    operation: u64,
    request: String,
    received: Instant,
    begun: Instant,
    entries: u64,
    /// True for a bind by SASL, which names an identity only in the end.
    is_sasl: bool,
    /// The reason of a failure that the client does not learn.
    reason: Option<&'static str>,
}

impl<'h> ConnectionLog<'h> {
    pub(super) fn new(sink: Option<&'h dyn OperationLog>, connection: u64) -> Self {
        ConnectionLog {
            sink,
            connection,
            operations: 0,
        }
    }

    /// Returns the number of the connection.
    pub(super) fn connection(&self) -> u64 {
        self.connection
    }

    /// Sets the sink of further operations.
    pub(super) fn set_sink(&mut self, sink: Option<&'h dyn OperationLog>) {
        self.sink = sink;
    }

    /// Returns the time if there is a sink.
    pub(super) fn now(&self) -> Option<Instant> {
        self.sink.map(OperationLog::now)
    }

    /// Records the start of a request if there is a sink.
    pub(super) fn begin(
        &mut self,
        message: &Message<'_>,
        received: Option<Instant>,
    ) -> Option<Box<OperationRecord>> {
        let operation = self.operations;
        self.operations += 1;
        let begun = self.sink?.now();
        Some(Box::new(OperationRecord {
            operation,
            request: tracked(&message.controls) + &describe(&message.request),
            received: received.unwrap_or(begun),
            begun,
            entries: 0,
            reason: None,
            is_sasl: matches!(
                &message.request,
                Request::Bind(BindRequest {
                    authentication: Authentication::Sasl { .. },
                    ..
                })
            ),
        }))
    }

    /// Logs a request that has no response.
    pub(super) fn unanswered(&mut self, message: &Message<'_>) {
        if let (Some(record), Some(sink)) = (self.begin(message, None), self.sink) {
            sink.line(&format!(
                "conn={} op={} {}",
                self.connection, record.operation, record.request
            ));
        }
    }

    /// Logs a request that was answered with an error before it began.
    pub(super) fn refused(&mut self, id: MessageId, operation: Operation, result: &LdapResult) {
        let number = self.operations;
        self.operations += 1;
        let Some(sink) = self.sink else {
            return;
        };
        let tag = operation.result_tag().map_or(0, |tag| tag.0);
        sink.line(&format!(
            "conn={} op={number} {operation} msgid={id} RESULT tag={tag} err={} text={}",
            self.connection,
            result.code.number(),
            QuotedText(result.diagnostic.as_bytes()),
        ));
    }

    /// Logs an operation that has ended; `responses` are its last responses.
    pub(super) fn end(&self, record: &mut OperationRecord, responses: &[u8]) {
        let Some(sink) = self.sink else {
            return;
        };
        let ended = sink.now();
        let Some((tag, code, text)) = record.read_result(responses) else {
            return;
        };
        let mut line = format!(
            "conn={} op={} {} RESULT tag={tag} err={code} qtime={:.6} etime={:.6}",
            self.connection,
            record.operation,
            record.request,
            record.begun.duration_since(record.received).as_secs_f64(),
            ended.duration_since(record.received).as_secs_f64(),
        );
        if tag == SEARCH_DONE {
            let _ = write!(line, " nentries={}", record.entries);
        }
        let _ = write!(line, " text={}", QuotedText(text.as_bytes()));
        if let Some(reason) = record.reason {
            let _ = write!(line, " reason={}", QuotedText(reason.as_bytes()));
        }
        sink.line(&line);
    }

    /// Logs an operation that was abandoned.
    pub(super) fn abandoned(&self, record: &OperationRecord) {
        let Some(sink) = self.sink else {
            return;
        };
        sink.line(&format!(
            "conn={} op={} {} ABANDONED nentries={}",
            self.connection, record.operation, record.request, record.entries,
        ));
    }
}

const SEARCH_ENTRY: u8 = 0x64;
const SEARCH_DONE: u8 = 0x65;

impl OperationRecord {
    /// Names the identity that a bind by SASL was mapped to, as slapd does.
    pub(super) fn name_identity(&mut self, name: &str) {
        if !self.is_sasl || name.is_empty() {
            return;
        }
        if let Some((before, mechanism)) = self
            .request
            .split_once("BIND dn=")
            .and_then(|(before, after)| Some((before, after.split_once(" method=163")?.1)))
        {
            let name = QuotedText(name.as_bytes());
            self.request = format!("{before}BIND dn={name} method=163{mechanism}");
        }
    }

    /// Sets the reason of a failure that the client does not learn.
    pub(super) fn set_reason(&mut self, reason: Option<&'static str>) {
        self.reason = reason;
    }

    /// Counts the entries of a search that goes on.
    pub(super) fn count_entries(&mut self, responses: &[u8]) {
        self.entries += Pdus(responses).filter(|pdu| is_entry(pdu)).count() as u64;
    }

    /// Returns tag, code and diagnostic of the last response, and counts the entries before it.
    fn read_result(&mut self, responses: &[u8]) -> Option<(u8, u32, String)> {
        let mut last = None;
        for pdu in Pdus(responses) {
            last = Some(pdu);
            self.entries += u64::from(is_entry(pdu));
        }
        let message = ResponseMessage::decode(last?).ok()?;
        let result = message.response.result()?;
        Some((
            tag_of(&message.response)?,
            result.code.number(),
            result.diagnostic.clone(),
        ))
    }
}

/// Returns the tag of a response that carries a result.
const fn tag_of(response: &Response<'_>) -> Option<u8> {
    Some(match response {
        Response::Bind { .. } => 0x61,
        Response::SearchDone(_) => SEARCH_DONE,
        Response::Modify(_) => 0x67,
        Response::Add(_) => 0x69,
        Response::Delete(_) => 0x6b,
        Response::ModifyDn(_) => 0x6d,
        Response::Compare(_) => 0x6f,
        Response::Extended { .. } => 0x78,
        Response::SearchEntry(_) | Response::SearchReference(_) | Response::Intermediate { .. } => {
            return None;
        }
    })
}

/// Returns true for the response that carries an entry. References are no entries, as in slapd.
fn is_entry(pdu: &[u8]) -> bool {
    response_tag(pdu) == Some(SEARCH_ENTRY)
}

/// Iterates over whole PDUs.
struct Pdus<'a>(&'a [u8]);

impl<'a> Iterator for Pdus<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let len = frame(self.0, usize::MAX).ok()??;
        let (pdu, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(pdu)
    }
}

/// Formats the session tracking control in brackets; empty without the control.
fn tracked(controls: &Controls<'_>) -> String {
    let control = controls.find(oid::SESSION_TRACKING);
    let value = control.and_then(|control| control.value);
    match value.map(SessionTracking::decode) {
        Some(Ok(tracking)) => format!(
            "[IP={} NAME={} ID={}] ",
            QuotedText(tracking.source_ip),
            QuotedText(tracking.source_name),
            QuotedText(tracking.identifier)
        ),
        _ => String::new(),
    }
}

fn describe(request: &Request<'_>) -> String {
    match request {
        Request::Bind(bind) => match bind.authentication {
            Authentication::Simple(_) => format!("BIND dn={} method=128", QuotedText(bind.name)),
            Authentication::Sasl { mechanism, .. } => {
                format!(
                    "BIND dn={} method=163 mech={}",
                    QuotedText(bind.name),
                    QuotedText(mechanism)
                )
            }
            Authentication::Unknown(tag) => {
                format!("BIND dn={} method={}", QuotedText(bind.name), tag.0)
            }
        },
        Request::Unbind => "UNBIND".to_owned(),
        Request::Search(search) => describe_search(search),
        Request::Modify(modify) => {
            let attributes = modify
                .changes
                .iter()
                .map(|change| change.attribute.description);
            format!(
                "MOD dn={} attr={}",
                QuotedText(modify.dn),
                QuotedNames(attributes.collect())
            )
        }
        Request::Add(add) => format!("ADD dn={}", QuotedText(add.dn)),
        Request::Delete(delete) => format!("DEL dn={}", QuotedText(delete.dn)),
        Request::ModifyDn(rename) => {
            let mut text = format!(
                "MODRDN dn={} newrdn={} deleteoldrdn={}",
                QuotedText(rename.dn),
                QuotedText(rename.new_rdn),
                u8::from(rename.delete_old_rdn)
            );
            if let Some(superior) = rename.new_superior {
                let _ = write!(text, " newsuperior={}", QuotedText(superior));
            }
            text
        }
        Request::Compare(compare) => format!(
            "CMP dn={} attr={}",
            QuotedText(compare.dn),
            QuotedText(compare.assertion.attribute)
        ),
        Request::Abandon(id) => format!("ABANDON msg={id}"),
        Request::Extended(extended) => format!("EXT oid={}", QuotedText(extended.oid)),
    }
}

fn describe_search(search: &SearchRequest<'_>) -> String {
    let mut text = format!(
        "SRCH base={} scope={} deref={} filter=\"{}\"",
        QuotedText(search.base),
        search.scope.number(),
        search.deref.number(),
        mask_passwords(search.filter.to_string()),
    );
    if !search.attributes.is_empty() {
        let _ = write!(text, " attrs={}", QuotedNames(search.attributes.clone()));
    }
    text
}

/// Masks assertions about `userPassword` in filter text, under any of its names and options.
fn mask_passwords(filter: String) -> String {
    const NAMES: [&str; 2] = ["userpassword", "2.5.4.35"];
    let lower = filter.to_ascii_lowercase();
    if !NAMES.iter().any(|name| lower.contains(name)) {
        return filter;
    }
    // Parentheses within values are escaped, so these delimit filters.
    let mut masked = String::with_capacity(filter.len());
    for (part, lower) in filter.split_inclusive(')').zip(lower.split_inclusive(')')) {
        let about_password = NAMES.iter().any(|name| lower.contains(name));
        match part.find('=') {
            Some(equals) if about_password && part.ends_with(')') => {
                masked.push_str(part.get(..=equals).unwrap_or_default());
                masked.push_str("...)");
            }
            _ => masked.push_str(part),
        }
    }
    masked
}

/// Text from clients between quotes; control characters are escaped, so it stays on one line.
struct QuotedText<'a>(&'a [u8]);

impl fmt::Display for QuotedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '"' | '\\' => write!(f, "\\{character}")?,
                    character if character.is_control() => {
                        write!(f, "{}", character.escape_default())?;
                    }
                    character => f.write_char(character)?,
                }
            }
            write!(f, "{}", chunk.invalid().escape_ascii())?;
        }
        f.write_char('"')
    }
}

/// Attribute names between one pair of quotes.
struct QuotedNames<'a>(Vec<&'a [u8]>);

impl fmt::Display for QuotedNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        QuotedText(&self.0.join(&b' ')).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asserted_passwords_are_masked() {
        let masked = |filter: &str| mask_passwords(filter.to_owned());
        assert_eq!(masked("(uid=ada)"), "(uid=ada)");
        assert_eq!(
            masked("(&(uid=ada)(userPassword=secret)(cn=x))"),
            "(&(uid=ada)(userPassword=...)(cn=x))"
        );
        assert_eq!(masked("(USERPASSWORD;x-a=a*b)"), "(USERPASSWORD;x-a=...)");
        assert_eq!(masked("(!(2.5.4.35=secret))"), "(!(2.5.4.35=...))");
        assert_eq!(
            masked("(userPassword:octetStringMatch:=secret)"),
            "(userPassword:octetStringMatch:=...)"
        );
        assert_eq!(
            masked("(|(userPassword>=s)(a~=b))"),
            "(|(userPassword>=...)(a~=b))"
        );
    }

    #[test]
    fn text_from_clients_stays_on_its_line() {
        let quoted = QuotedText(b"a\"b\\c\nconn=1 \xff\xc3\xa4").to_string();
        assert_eq!(quoted, "\"a\\\"b\\\\c\\nconn=1 \\xff\u{e4}\"");
    }
}
