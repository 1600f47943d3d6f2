//! A connection that updates go out on, bound as the server itself.

use std::time::{Duration, Instant};

use fulgurite_directory::ForwardedUpdate;
use fulgurite_ldap::{
    Deref, FilterBuf, LdapResult, MessageId, Request, Response, ResponseMessage, Scope,
    SearchRequest, encode,
};
use fulgurite_policy::ProviderLink;
use fulgurite_replica::{Bind, Vector};

use crate::outgoing::bind_secrets;
use crate::outgoing::connect::connect;
use crate::outgoing::stream::ProviderStream;

/// The time for a connection with its bind, unless the link has another.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for the answers of all updates that went out together, unless the link has another.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The time between two lines about binds that are not recorded.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// A bound connection.
pub(super) struct Connection {
    link: ProviderLink,
    stream: ProviderStream,
    last_id: MessageId,
    unrecorded: Throttle,
}

/// Lets a line of one kind into the log at most once a minute.
#[derive(Default)]
struct Throttle {
    last: Option<Instant>,
    /// Lines since then that were left out.
    omitted: u64,
}

impl Throttle {
    /// Logs a bind that the other server does not record.
    fn warn(&mut self, url: &str, name: &str, result: &LdapResult) {
        let more = match self.admits(Instant::now()) {
            None => return,
            Some(0) => String::new(),
            Some(omitted) => format!(" ({omitted} lines like this were left out before)"),
        };
        let (code, text) = (result.code, &result.diagnostic);
        tracing::warn!(
            "chain: {url}: the bind of {name:?} is not recorded: {code:?} {text:?}{more}"
        );
    }

    /// Returns the number of lines left out before this one; `None` if it is left out, too.
    fn admits(&mut self, now: Instant) -> Option<u64> {
        let is_recent = |last: Instant| now.duration_since(last) < WARN_EVERY;
        if self.last.is_some_and(is_recent) {
            self.omitted += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.omitted))
    }
}

impl Connection {
    /// Connects and binds.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn open(link: &ProviderLink) -> Result<Connection, String> {
        let timeout = seconds(link.network_timeout_s).unwrap_or(CONNECT_TIMEOUT);
        let stream = connect(link, "chain", timeout)?;
        let mut connection = Connection {
            link: link.clone(),
            stream,
            last_id: 0,
            unrecorded: Throttle::default(),
        };
        connection.bind()?;
        Ok(connection)
    }

    /// Returns true if the connection leads there and is ready for requests.
    pub(super) fn serves(&self, links: &[ProviderLink]) -> bool {
        // After each batch nothing is outstanding: bytes now are a notice, or the end.
        links.contains(&self.link) && self.stream.is_quiet()
    }

    /// Sends updates and returns their responses, in their order; `None` for one that got none.
    /// The second value is false if the connection is lost.
    pub(super) fn ask(&mut self, updates: &[&ForwardedUpdate]) -> (Vec<Option<Answer>>, bool) {
        let first = self.last_id + 1;
        let mut bytes = Vec::new();
        for update in updates {
            self.last_id += 1;
            update.encode(self.last_id, &mut bytes);
        }
        let mut answers: Vec<Option<Answer>> = updates.iter().map(|_| None).collect();
        let deadline = Instant::now() + self.answer_timeout();
        if let Err(error) = self.stream.send(&bytes, self.answer_timeout()) {
            tracing::warn!("chain: {}: {error}", self.link.url);
            return (answers, false);
        }
        let mut missing = updates.len();
        while missing > 0 {
            let message = match receive(&mut self.stream, deadline) {
                Ok(message) => message,
                Err(reason) => {
                    tracing::warn!("chain: {}: {reason}", self.link.url);
                    return (answers, false);
                }
            };
            let at = message.id.checked_sub(first);
            let at = at.and_then(|at| usize::try_from(at).ok());
            let slot = at.and_then(|at| Some((answers.get_mut(at)?, updates.get(at)?)));
            let Some((slot @ None, update)) = slot else {
                tracing::warn!("chain: {}: an unexpected message", self.link.url);
                return (answers, false);
            };
            update.answered();
            let result = message.response.result();
            let is_success = result.is_some_and(|one| one.is_success());
            if let (Some(name), Some(result), false) = (update.bound_name(), result, is_success) {
                self.unrecorded.warn(&self.link.url, name, result);
            }
            let Some(bytes) = update.response(&message) else {
                tracing::warn!("chain: {}: a response of another kind", self.link.url);
                return (answers, false);
            };
            *slot = Some(Answer { bytes, is_success });
            missing -= 1;
        }
        (answers, true)
    }

    /// Returns the state of the provider's content; `None` if it does not tell in time. Then the
    /// connection is of no more use, because the answer may still come.
    pub(super) fn state(&mut self, base: &str, deadline: Instant) -> Option<Vector> {
        self.last_id += 1;
        let filter = FilterBuf::parse("(objectClass=*)").ok()?;
        let search = SearchRequest {
            base: base.as_bytes(),
            scope: Scope::Base,
            deref: Deref::Never,
            size_limit: 0,
            time_limit_s: 0,
            types_only: false,
            filter: filter.filter(),
            attributes: vec![b"contextCSN"],
        };
        let mut bytes = Vec::new();
        encode::request(&mut bytes, self.last_id, &Request::Search(search), &[]);
        let left = deadline.saturating_duration_since(Instant::now());
        self.stream.send(&bytes, left).ok()?;
        let mut state = Vector::default();
        loop {
            let message = receive(&mut self.stream, deadline).ok()?;
            if message.id != self.last_id {
                return None;
            }
            match &message.response {
                Response::SearchEntry(entry) => {
                    let values = entry.attributes.iter().flat_map(|one| one.values.iter());
                    for value in values {
                        state.advance(&String::from_utf8_lossy(value));
                    }
                }
                Response::SearchDone(_) => return Some(state),
                _ => {}
            }
        }
    }

    fn bind(&mut self) -> Result<(), String> {
        let timeout = seconds(self.link.timeout_s).unwrap_or(CONNECT_TIMEOUT);
        let deadline = Instant::now() + timeout;
        self.last_id += 1;
        let mut bytes = Vec::new();
        let begun = Bind::begin(&self.link.bind, bind_secrets(), self.last_id, &mut bytes);
        let mut bind = begun.map_err(|trouble| trouble.to_string())?;
        loop {
            let sent = self.stream.send(&bytes, timeout);
            sent.map_err(|error| error.to_string())?;
            bytes.clear();
            let message = receive(&mut self.stream, deadline)?;
            let Response::Bind {
                result,
                server_credentials,
            } = &message.response
            else {
                return Err("another answer than that to the bind".to_owned());
            };
            self.last_id += 1;
            let done = bind.respond(result, *server_credentials, self.last_id, &mut bytes);
            if done.map_err(|trouble| trouble.to_string())? {
                return Ok(());
            }
        }
    }

    fn answer_timeout(&self) -> Duration {
        seconds(self.link.timeout_s).unwrap_or(ANSWER_TIMEOUT)
    }
}

/// The answer of the other server, for the client.
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) is_success: bool,
}

fn seconds(count: u32) -> Option<Duration> {
    (count > 0).then(|| Duration::from_secs(count.into()))
}

/// Waits for the next message.
fn receive(stream: &mut ProviderStream, deadline: Instant) -> Result<ResponseMessage<'_>, String> {
    let left = deadline.saturating_duration_since(Instant::now());
    let bytes = stream.receive(left).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("no answer in time")?;
    ResponseMessage::decode(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_once_a_minute() {
        let begun = Instant::now();
        let mut throttle = Throttle::default();
        let mut admits = |seconds| throttle.admits(begun + Duration::from_secs(seconds));
        assert_eq!(admits(0), Some(0));
        assert_eq!([admits(1), admits(59)], [None, None]);
        assert_eq!(admits(60), Some(2));
        assert_eq!(admits(120), Some(0));
    }
}
