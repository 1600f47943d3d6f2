//! The state of authentication that a directory keeps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::dummy_hash::DummyHashes;
use super::options::AuthOptions;
use crate::core::clock::Entropy;
use crate::core::foundation::Core;
use crate::generated::namespace::{Generated, NamespaceTarget};
use crate::request::restrictions::OperationPolicy;
use fulgurite_schema::Dn;

/// Settings and state of authentication.
pub(crate) struct Auth {
    pub(crate) options: AuthOptions,
    /// The state that survives a reload of the settings.
    pub(crate) lasting: Arc<AuthState>,
}

/// State that must not change while the server runs.
pub(crate) struct AuthState {
    /// Passwords to verify for names without one.
    pub(crate) dummies: DummyHashes,
    /// The secret that salts of names without keys are made of.
    secret: OnceLock<[u8; 16]>,
    /// True once SCRAM has used a password in clear, whose keys take time to derive.
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

    /// Returns the same state with other settings.
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

    /// Returns the salt of a name without keys: unpredictable, and always the same.
    pub(crate) fn salt(&self, entropy: &dyn Entropy, mechanism: &str, user: &str) -> [u8; 16] {
        let secret = self.secret.get_or_init(|| entropy.random());
        fulgurite_auth::salt_for(secret, mechanism, user)
    }
}

/// The parts of a directory that authentication works with.
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
