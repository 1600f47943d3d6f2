//! Sessions: each has a random identifier, an end, and a connection bound as its user.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fulgurite_client::Client;
use fulgurite_client::names::normal;

use crate::about::AboutServer;
use crate::history::History;
use crate::schema::{SchemaNames, SharedSchema};
use crate::secrets::{digest, random_id};

/// The time without a request after which a session ends.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(30 * 60);

/// The time after which each session ends.
pub(crate) const AGE_MAX: Duration = Duration::from_secs(8 * 3600);

/// Sessions at the same time, of all users and of one.
pub(crate) const SESSIONS_MAX: usize = 256;
pub(crate) const SESSIONS_OF_USER_MAX: usize = 8;

/// A session of a user.
pub(crate) struct UserSession {
    /// The name that the server knows the user by.
    pub(crate) dn: String,
    /// The secret that each form carries.
    pub(crate) token: String,
    /// A connection with the user's rights. The console keeps no password.
    client: Mutex<Client>,
    message: Mutex<Option<String>>,
    schema: Mutex<Option<Arc<SchemaNames>>>,
    pub(crate) history: Mutex<History>,
    /// Facts about the server.
    pub(crate) about: Arc<AboutServer>,
    /// The schema that sessions share.
    pub(crate) schemas: Arc<SharedSchema>,
    begun: Instant,
    used: Mutex<Instant>,
}

impl UserSession {
    /// Returns the connection, for one page at a time.
    pub(crate) fn client(&self) -> MutexGuard<'_, Client> {
        lock(&self.client)
    }

    /// Sets the sentence that the next page shows.
    pub(crate) fn say(&self, message: impl Into<String>) {
        *lock(&self.message) = Some(message.into());
    }

    /// Takes the sentence to show.
    pub(crate) fn said(&self) -> Option<String> {
        lock(&self.message).take()
    }

    /// Returns the schema if a page has read it.
    pub(crate) fn schema(&self) -> Option<Arc<SchemaNames>> {
        lock(&self.schema).clone()
    }

    /// Keeps the schema for later pages.
    pub(crate) fn keep_schema(&self, schema: Arc<SchemaNames>) {
        *lock(&self.schema) = Some(schema);
    }

    fn is_over(&self, now: Instant) -> bool {
        let idle = now.saturating_duration_since(*lock(&self.used));
        idle >= IDLE_MAX || now.saturating_duration_since(self.begun) >= AGE_MAX
    }
}

/// All sessions, by the digests of their identifiers.
#[derive(Default)]
pub(crate) struct Sessions {
    sessions: Mutex<HashMap<[u8; 32], Arc<UserSession>>>,
    about: Arc<AboutServer>,
    schemas: Arc<SharedSchema>,
}

impl Sessions {
    /// Makes a table without sessions.
    pub(crate) fn new(about: Arc<AboutServer>) -> Sessions {
        Sessions {
            about,
            ..Sessions::default()
        }
    }

    /// Begins a session and returns its identifier. `None` if there are too many.
    ///
    /// A user with too many sessions loses the one that was used least recently.
    pub(crate) fn begin(
        &self,
        dn: String,
        client: Client,
        now: Instant,
    ) -> io::Result<Option<String>> {
        let id = random_id()?;
        let session = UserSession {
            dn,
            token: random_id()?,
            client: Mutex::new(client),
            message: Mutex::default(),
            schema: Mutex::default(),
            history: Mutex::default(),
            about: Arc::clone(&self.about),
            schemas: Arc::clone(&self.schemas),
            begun: now,
            used: Mutex::new(now),
        };
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, session| !session.is_over(now));
        let of_user = sessions.iter().filter(|(_, other)| other.dn == session.dn);
        let of_user: Vec<_> = of_user
            .map(|(key, other)| (*lock(&other.used), *key))
            .collect();
        if of_user.len() >= SESSIONS_OF_USER_MAX
            && let Some((_, oldest)) = of_user.iter().min()
        {
            sessions.remove(oldest);
        }
        if sessions.len() >= SESSIONS_MAX {
            return Ok(None);
        }
        sessions.insert(digest(&id), Arc::new(session));
        Ok(Some(id))
    }

    /// Returns the session of an identifier, and counts this as a use.
    pub(crate) fn get(&self, id: &str, now: Instant) -> Option<Arc<UserSession>> {
        let mut sessions = lock(&self.sessions);
        let key = digest(id);
        let session = Arc::clone(sessions.get(&key)?);
        if session.is_over(now) {
            sessions.remove(&key);
            return None;
        }
        *lock(&session.used) = now;
        Some(session)
    }

    /// Ends a session.
    pub(crate) fn end(&self, id: &str) {
        lock(&self.sessions).remove(&digest(id));
    }

    /// Ends the sessions of a user but the one of an identifier.
    pub(crate) fn end_others(&self, dn: &str, id: &str) {
        let (dn, own) = (normal(dn), digest(id));
        lock(&self.sessions).retain(|key, session| *key == own || normal(&session.dn) != dn);
    }

    /// Ends the sessions whose time is over, and closes their connections.
    pub(crate) fn sweep(&self, now: Instant) {
        lock(&self.sessions).retain(|_, session| !session.is_over(now));
    }
}

/// Locks; a panic of another page is no reason to fail.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn client(listener: &TcpListener) -> Client {
        Client::connect(listener.local_addr().unwrap()).unwrap()
    }

    #[test]
    fn sessions_end_by_idleness_and_by_age() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (sessions, start) = (Sessions::default(), Instant::now());
        let begin = || {
            let begun = sessions.begin("cn=a".to_owned(), client(&listener), start);
            begun.unwrap().unwrap()
        };
        let (idle, busy) = (begin(), begin());
        assert_eq!(idle.len(), 64);
        assert_ne!(idle, busy);
        let mut now = start;
        while now + IDLE_MAX / 2 < start + AGE_MAX {
            now += IDLE_MAX / 2;
            assert!(sessions.get(&busy, now).is_some());
        }
        assert!(sessions.get(&idle, now).is_none(), "it was idle");
        assert!(sessions.get(&busy, start + AGE_MAX).is_none(), "it is old");
        assert!(sessions.get("", start).is_none());
    }

    #[test]
    fn a_user_loses_the_session_that_was_used_least_recently() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (sessions, start) = (Sessions::default(), Instant::now());
        let begin = |dn: &str, at: Instant| {
            let begun = sessions.begin(dn.to_owned(), client(&listener), at);
            begun.unwrap().unwrap()
        };
        let second = Duration::from_secs(1);
        let other = begin("cn=b", start);
        let ids: Vec<String> = (0..SESSIONS_OF_USER_MAX as u32)
            .map(|at| begin("cn=a", start + second * at))
            .collect();
        let last = start + second * 60;
        assert!(sessions.get(&ids[0], last).is_some());
        begin("cn=a", last + second);
        assert!(sessions.get(&ids[1], last).is_none());
        assert!(sessions.get(&ids[0], last).is_some());
        assert!(sessions.get(&other, last).is_some());
        sessions.end_others("CN = A", &ids[0]);
        assert!(sessions.get(&ids[0], last).is_some());
        assert!(ids[1..].iter().all(|id| sessions.get(id, last).is_none()));
        assert!(sessions.get(&other, last).is_some());
        sessions.end_others("cn=a", "");
        assert!(sessions.get(&ids[0], last).is_none());
        sessions.end(&other);
        assert!(sessions.get(&other, last).is_none());
    }
}
