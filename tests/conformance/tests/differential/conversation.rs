//! Octets to a server and back: one connection for each identity.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use fulgurite_ldap::{LdapResult, Response, ResponseMessage, frame, oid};

use crate::ber::{elements, group, integer, octets, sequence, tlv};
use crate::controls::Control;
use crate::requests::{Request, Requester};
use crate::servers::{ROOT_DN, ROOT_PASSWORD, USER_DN, USER_PASSWORD};

/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Octets of a response at most.
const RESPONSE_MAX: usize = 64 << 20;
/// Pages of a paged search at most.
const PAGES_MAX: usize = 200;
const PAGED_RESULTS: &str = "1.2.840.113556.1.4.319";
const SORT_RESPONSE: &str = "1.2.840.113556.1.4.474";
const PASSWORD_POLICY: &str = "1.3.6.1.4.1.42.2.27.8.5.1";
const READ_ENTRY: [&str; 2] = ["1.3.6.1.1.13.1", "1.3.6.1.1.13.2"];

/// Attributes of an entry with their values in the order of the answer, names in small letters.
pub(crate) type Attributes = BTreeMap<String, Vec<Vec<u8>>>;

/// The answer of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// `None`: it closed the connection.
    pub(crate) code: Option<u32>,
    pub(crate) matched: String,
    pub(crate) referrals: BTreeSet<String>,
    pub(crate) diagnostic: String,
    pub(crate) entries: Vec<(String, Attributes)>,
    pub(crate) references: BTreeSet<Vec<String>>,
    /// By OID, what they say as far as it can be compared.
    pub(crate) controls: BTreeMap<String, String>,
    /// Of an extended operation.
    pub(crate) value: Option<Vec<u8>>,
    /// Entries on each page.
    pub(crate) pages: Vec<usize>,
}

/// The conversations with one server.
pub(crate) struct Clients {
    address: SocketAddr,
    connections: BTreeMap<Requester, Connection>,
}

impl Clients {
    pub(crate) fn new(address: SocketAddr) -> Clients {
        Clients {
            address,
            connections: BTreeMap::new(),
        }
    }

    /// Closes the connections of sessions.
    pub(crate) fn end_sessions(&mut self) {
        self.connections
            .retain(|who, _| !matches!(who, Requester::Session(_)));
    }

    /// Returns true if the server listens.
    pub(crate) fn is_alive(&self) -> bool {
        TcpStream::connect(self.address).is_ok()
    }

    /// Sends a request and waits for the whole answer, page by page if it asks for pages. Returns
    /// `None` if the server is gone.
    pub(crate) fn ask(&mut self, request: &Request) -> Option<Answer> {
        let answer = self.converse(request);
        if answer.as_ref().is_some_and(|answer| answer.code.is_some()) || self.is_alive() {
            return Some(answer.unwrap_or_default());
        }
        None
    }

    fn converse(&mut self, request: &Request) -> Option<Answer> {
        // A bind changes the identity, so it has a separate connection, except in a session.
        if request.operation == "bind" && !matches!(request.who, Requester::Session(_)) {
            return Connection::open(self.address)?.converse(request);
        }
        let who = request.who;
        if let std::collections::btree_map::Entry::Vacant(place) = self.connections.entry(who) {
            place.insert(Connection::bound(self.address, who)?);
        }
        let answer = self.connections.get_mut(&who)?.converse(request);
        if answer.is_none() {
            self.connections.remove(&who);
        }
        answer
    }
}

struct Connection {
    stream: TcpStream,
    held: Vec<u8>,
    next: i64,
}

impl Connection {
    fn open(address: SocketAddr) -> Option<Connection> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nodelay(true).expect("small requests");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Some(Connection {
            stream,
            held: Vec::new(),
            next: 1,
        })
    }

    fn bound(address: SocketAddr, who: Requester) -> Option<Connection> {
        let mut connection = Connection::open(address)?;
        let (dn, password) = match who {
            Requester::Anonymous | Requester::Session(_) => return Some(connection),
            Requester::User => (USER_DN, USER_PASSWORD),
            Requester::Root => (ROOT_DN, ROOT_PASSWORD),
        };
        let body = group(
            0x60,
            &[integer(3), octets(dn), tlv(0x80, password.as_bytes())],
        );
        let answer = connection.exchange(&body, &[], &[])?;
        assert_eq!(answer.code, Some(0), "{dn} binds: {answer:?}");
        Some(connection)
    }

    fn converse(&mut self, request: &Request) -> Option<Answer> {
        let mut cookie = Vec::new();
        let mut whole: Option<Answer> = None;
        for _ in 0..PAGES_MAX {
            let (answer, next) = {
                let mut next = Vec::new();
                let answer =
                    self.exchange_with(&request.body, &request.controls, &cookie, &mut next)?;
                (answer, next)
            };
            let is_paged = answer.controls.contains_key(PAGED_RESULTS);
            let code = answer.code;
            let page = answer.entries.len();
            match &mut whole {
                None => whole = Some(answer),
                Some(whole) => {
                    whole.code = answer.code;
                    whole.matched = answer.matched;
                    whole.entries.extend(answer.entries);
                    whole.references.extend(answer.references);
                    whole.controls = answer.controls;
                }
            }
            let all = whole.as_mut()?;
            if is_paged {
                all.pages.push(page);
            }
            if next.is_empty() || code != Some(0) {
                break;
            }
            cookie = next;
        }
        whole
    }

    fn exchange(&mut self, body: &[u8], controls: &[Control], cookie: &[u8]) -> Option<Answer> {
        self.exchange_with(body, controls, cookie, &mut Vec::new())
    }

    fn exchange_with(
        &mut self,
        body: &[u8],
        controls: &[Control],
        cookie: &[u8],
        next: &mut Vec<u8>,
    ) -> Option<Answer> {
        let id = self.next;
        self.next += 1;
        let mut parts = vec![integer(id), body.to_vec()];
        if !controls.is_empty() {
            let controls: Vec<Vec<u8>> = controls
                .iter()
                .map(|control| control.octets(cookie))
                .collect();
            parts.push(group(0xa0, &controls));
        }
        self.stream.write_all(&sequence(&parts)).ok()?;
        let mut answer = Answer::default();
        loop {
            let pdu = self.receive()?;
            let message = ResponseMessage::decode(&pdu)
                .unwrap_or_else(|error| panic!("{error}: {}", pdu.escape_ascii()));
            if message.id == 0 {
                if let Response::Extended {
                    name: Some(name), ..
                } = message.response
                    && name == oid::NOTICE_OF_DISCONNECTION.as_bytes()
                {
                    return None;
                }
                continue;
            }
            assert_eq!(i64::from(message.id), id, "an answer to another request");
            match &message.response {
                Response::SearchEntry(entry) => {
                    let mut attributes = Attributes::new();
                    for attribute in &entry.attributes {
                        let name =
                            String::from_utf8_lossy(attribute.description).to_ascii_lowercase();
                        let values = attribute.values.iter().map(<[u8]>::to_vec);
                        attributes.entry(name).or_default().extend(values);
                    }
                    answer.entries.push((text(entry.dn), attributes));
                    continue;
                }
                Response::SearchReference(urls) => {
                    answer.references.insert(urls.iter().map(text).collect());
                    continue;
                }
                Response::Intermediate { .. } => continue,
                _ => {}
            }
            for control in message.controls.iter() {
                let (said, cookie) = said_by(&text(control.oid), control.value.unwrap_or_default());
                if let Some(cookie) = cookie {
                    *next = cookie;
                }
                answer.controls.insert(text(control.oid), said);
            }
            let result: &LdapResult = match &message.response {
                Response::Extended { result, value, .. } => {
                    answer.value = value.map(<[u8]>::to_vec);
                    result
                }
                Response::Bind { result, .. } => result,
                other => other.result().expect("a result"),
            };
            answer.code = Some(result.code.number());
            answer.matched.clone_from(&result.matched_dn);
            answer.diagnostic.clone_from(&result.diagnostic);
            answer.referrals = result.referrals.iter().cloned().collect();
            return Some(answer);
        }
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        loop {
            let whole = frame(&self.held, RESPONSE_MAX).expect("a response");
            if let Some(len) = whole {
                return Some(self.held.drain(..len).collect());
            }
            let mut more = [0; 1 << 16];
            match self.stream.read(&mut more) {
                Ok(0) => return None,
                Ok(count) => self.held.extend_from_slice(&more[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }
}

/// Returns the comparable part of a response control, and the cookie of a page.
fn said_by(oid: &str, value: &[u8]) -> (String, Option<Vec<u8>>) {
    let parts = |bytes| elements(bytes);
    let inner = |bytes: &[u8]| {
        elements(bytes)
            .first()
            .map(|(_, inner)| inner.to_vec())
            .unwrap_or_default()
    };
    match oid {
        PAGED_RESULTS => {
            let all = inner(value);
            let cookie = parts(&all)
                .get(1)
                .map(|(_, cookie)| cookie.to_vec())
                .unwrap_or_default();
            let said = if cookie.is_empty() { "the end" } else { "more" };
            (said.to_owned(), Some(cookie))
        }
        SORT_RESPONSE => {
            let all = inner(value);
            (format!("{:?}", parts(&all)), None)
        }
        _ if READ_ENTRY.contains(&oid) => {
            let all = inner(value);
            let entry = parts(&all);
            let dn = entry.first().map(|(_, dn)| text(dn)).unwrap_or_default();
            let mut lines = BTreeSet::new();
            for (_, attribute) in entry
                .get(1)
                .map(|(_, list)| elements(list))
                .unwrap_or_default()
            {
                let attribute = elements(attribute);
                let name = attribute
                    .first()
                    .map(|(_, name)| text(name))
                    .unwrap_or_default()
                    .to_ascii_lowercase();
                for (_, value) in attribute
                    .get(1)
                    .map(|(_, set)| elements(set))
                    .unwrap_or_default()
                {
                    let value = crate::compare::comparable(&name, value);
                    lines.insert(format!("{name}: {value}"));
                }
            }
            (format!("{dn} {lines:?}"), None)
        }
        PASSWORD_POLICY => (password_policy(&inner(value)), None),
        _ => (value.escape_ascii().to_string(), None),
    }
}

/// Returns warning and error of the password policy response.
fn password_policy(parts: &[u8]) -> String {
    let number = |octets: &[u8]| {
        octets
            .iter()
            .fold(0u64, |all, octet| all << 8 | u64::from(*octet))
    };
    let mut said = Vec::new();
    for (tag, content) in elements(parts) {
        match (tag, elements(content).first()) {
            (0xa0, Some((0x80, seconds))) => said.push(format!("expires in {}", number(seconds))),
            (0xa0, Some((0x81, logins))) => said.push(format!("{} grace logins", number(logins))),
            _ => said.push(format!("error {}", number(content))),
        }
    }
    said.join(", ")
}

fn text(octets: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(octets.as_ref()).into_owned()
}
