//! What a directory keeps for authenticating clients.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::dummy_hash::DummyHashes;
use super::options::AuthOptions;
use crate::core::clock::Entropy;
use crate::core::foundation::Core;
use crate::generated::namespace::{Generated, NamespaceTarget};
use crate::request::restrictions::OperationPolicy;
use fulgurite_schema::Dn;

/// What a directory knows for authenticating people.
pub(crate) struct Auth {
    pub(crate) options: AuthOptions,
    /// Survives a reload of the settings.
    pub(crate) lasting: Arc<AuthState>,
}

/// What has to stay the same for as long as the server runs.
pub(crate) struct AuthState {
    /// Stored passwords to check in place of missing ones.
    pub(crate) dummies: DummyHashes,
    /// Makes salts for those who have none, the same ones whenever they ask.
    secret: OnceLock<[u8; 16]>,
    /// Whether SCRAM has met a password in clear, whose keys take time to derive.
    derived: AtomicBool,
}

impl Auth {
    pub(crate) fn new(options: AuthOptions) -> Auth {
        Auth {
            lasting: Arc::new(AuthState {
                dummies: DummyHashes::new(&options),
                secret: OnceLock::new(),
                derived: AtomicBool::new(false),
            }),
            options,
        }
    }

    /// The same people with other settings.
    pub(crate) fn with_options(&self, options: AuthOptions) -> Auth {
        Auth {
            options,
            lasting: Arc::clone(&self.lasting),
        }
    }
}

impl AuthState {
    pub(super) fn note_derivation(&self) {
        self.derived.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_derived(&self) -> bool {
        self.derived.load(Ordering::Relaxed)
    }

    /// A salt for a name that has none stored: unpredictable, and the same every time.
    pub(crate) fn salt(&self, entropy: &dyn Entropy, mechanism: &str, user: &str) -> [u8; 16] {
        let secret = self.secret.get_or_init(|| entropy.random());
        fulgurite_auth::salt_for(secret, mechanism, user)
    }
}

/// Authenticates and authorizes with the parts of one directory.
#[derive(Clone, Copy)]
pub(crate) struct Authenticator<'d> {
    pub(crate) core: &'d Core,
    pub(crate) generated: &'d Generated,
    pub(crate) policy: &'d OperationPolicy,
    pub(crate) auth: &'d Auth,
}

impl<'d> Authenticator<'d> {
    /// Returns the part of the directory that a name belongs to.
    pub(super) fn target(&self, dn: &Dn) -> NamespaceTarget<'d> {
        self.generated.target(&self.core.databases, dn)
    }
}
