//! Bind (RFC 4511, section 4.2; RFC 4513, section 5.1): simple authentication.
//!
//! Looking a password up is quick, checking it may be slow on purpose. The two halves are apart, so that the second
//! can run where it does not hold up searches.

use fulgurite_access::Rights;
use fulgurite_auth::{Cost, Scheme};
use fulgurite_ldap::{
    Authentication, BindRequest, Controls, LdapResult, MessageId, Operation, ResultCode, encode,
};
use fulgurite_schema::Dn;
use fulgurite_store::StoreError;

use crate::answer::{self, Answer, refuse};
use crate::controls::RequestControls;
use crate::directory::{Directory, Place};
use crate::facts::{self, EntryFacts, Target};
use crate::session::{Identity, Name, Session};

/// The protocol version that clients are expected to speak.
const VERSION: u8 = 3;

/// How a bind goes on.
#[derive(Debug)]
pub enum BindStep {
    /// It is decided.
    Done(BindOutcome),
    /// A slow hash has to be computed: [`PasswordCheck::run`] it on a thread that may take its time.
    Check(PasswordCheck),
}

/// The end of a bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindOutcome {
    /// What the client is told.
    pub result: LdapResult,
    /// Whom the connection speaks for from now on.
    pub identity: Identity,
    /// The protocol version asked for.
    pub version: u8,
}

/// A password and what it is to be compared with. Owned: send it to any thread.
pub struct PasswordCheck {
    password: Vec<u8>,
    /// Any of them will do.
    stored: Vec<Vec<u8>>,
    /// Somebody's stored password, to take the same time where there is none to compare with.
    decoy: Option<Vec<u8>>,
    identity: Identity,
    version: u8,
}

impl std::fmt::Debug for PasswordCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordCheck")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl PasswordCheck {
    /// Compares. Takes as long as the hash wants: milliseconds for Argon2.
    #[must_use]
    pub fn run(self) -> BindOutcome {
        let mut right = false;
        for stored in &self.stored {
            right |= fulgurite_auth::verify(stored, &self.password).unwrap_or(false);
        }
        if self.stored.is_empty() {
            self.waste_time();
        }
        if right {
            BindOutcome::success(self.identity, self.version)
        } else {
            BindOutcome::failure(LdapResult::new(ResultCode::InvalidCredentials))
        }
    }

    /// What a wrong password of an existing user would have cost.
    fn waste_time(&self) {
        match &self.decoy {
            Some(decoy) => {
                std::hint::black_box(fulgurite_auth::verify(decoy, &self.password).is_ok());
            }
            None => fulgurite_auth::dummy_verify(Scheme::default(), &self.password),
        }
    }

    fn is_cheap(&self) -> bool {
        let cheap = |stored: &Vec<u8>| fulgurite_auth::cost(stored) == Cost::Cheap;
        if self.stored.is_empty() {
            self.decoy.as_ref().is_some_and(cheap)
        } else {
            self.stored.iter().all(cheap)
        }
    }
}

impl BindOutcome {
    fn success(identity: Identity, version: u8) -> BindOutcome {
        BindOutcome {
            result: LdapResult::success(),
            identity,
            version,
        }
    }

    fn failure(result: LdapResult) -> BindOutcome {
        BindOutcome {
            result,
            identity: Identity::Anonymous,
            version: VERSION,
        }
    }

    /// Gives the session its new identity and appends the response.
    pub fn finish(self, session: &mut Session, id: MessageId, out: &mut Vec<u8>) {
        session.set_identity(self.identity);
        if self.result.is_success() {
            session.bound(self.version);
        }
        encode::bind_result(out, id, &self.result, None, &[]);
    }
}

impl Directory {
    /// Begins a bind. Whatever comes of it, the session is anonymous until it is finished.
    #[must_use]
    pub fn begin_bind(
        &self,
        session: &Session,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
    ) -> BindStep {
        match self.bind(session, request, controls) {
            Ok(step) => step,
            Err(result) => BindStep::Done(BindOutcome::failure(result)),
        }
    }

    fn bind(
        &self,
        session: &Session,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
    ) -> Answer<BindStep> {
        RequestControls::decode(Operation::Bind, controls)?;
        let version = self.permit_version(request.version)?;
        let dn = answer::dn(&self.schema, request.name)?;
        let password = match request.authentication {
            Authentication::Simple(password) => password,
            Authentication::Sasl { .. } => {
                return Err(refuse(
                    ResultCode::AuthMethodNotSupported,
                    "no SASL mechanism is available",
                ));
            }
            Authentication::Unknown(_) => {
                return Err(refuse(
                    ResultCode::AuthMethodNotSupported,
                    "unknown authentication method",
                ));
            }
        };
        if self.permit_simple_bind(session, &dn, password)? {
            let outcome = BindOutcome::success(Identity::Anonymous, version);
            return Ok(BindStep::Done(outcome));
        }
        self.simple_bind(&dn, password, version)
    }

    fn simple_bind(&self, dn: &Dn, password: &[u8], version: u8) -> Answer<BindStep> {
        let name = Name::from(dn);
        // The configured password of a root counts where its name belongs, and nowhere else.
        let root = match self.place(dn) {
            Place::In(database) => database.root.as_ref(),
            Place::Tree(tree) => tree.root.as_ref(),
            Place::RootDse | Place::Subschema | Place::Nowhere => None,
        };
        let root = root.filter(|root| root.name == name);
        let identity = Identity::User(name);
        let stored = match root.and_then(|root| root.password.clone()) {
            Some(password) => vec![password],
            None => self
                .stored_passwords(dn)
                .map_err(|error| answer::store(&error))?,
        };
        if let (None, Some(stored)) = (root, stored.first()) {
            self.decoy.get_or_init(|| stored.clone());
        }
        let check = PasswordCheck {
            password: password.to_vec(),
            stored,
            decoy: self.decoy.get().cloned(),
            identity,
            version,
        };
        Ok(if check.is_cheap() {
            BindStep::Done(check.run())
        } else {
            BindStep::Check(check)
        })
    }

    /// Values of `userPassword` that may be used for authentication; none for a missing entry.
    fn stored_passwords(&self, dn: &Dn) -> Result<Vec<Vec<u8>>, StoreError> {
        let Place::In(database) = self.place(dn) else {
            return Ok(Vec::new());
        };
        let view = database.store.snapshot()?;
        let Some(id) = view.find(dn)?.entry() else {
            return Ok(Vec::new());
        };
        // Who binds is nobody yet.
        let decisions = facts::decide(&database.rules, &Session::new(), false);
        let password = &self.known.user_password;
        let Some(entry) = view.entry(id)? else {
            return Ok(Vec::new());
        };
        let facts = EntryFacts::new(self, &view, Target::Stored(entry));
        let rights = facts.rights(&decisions, dn.normal());
        if !rights.attribute(password).allows(Rights::AUTH) {
            return Ok(Vec::new());
        }
        let values = entry.values(password).into_iter().flatten();
        Ok(values.map(<[u8]>::to_vec).collect())
    }
}
