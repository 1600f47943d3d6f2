//! Who somebody is: passwords, SASL exchanges, and the way from the names they use to names of entries.
//!
//! ```text
//!   simple bind: DN --------------------------------------.
//!   SASL: user name -- sasl_dn, authz-regexp (people) --> DN --> passwords --> right or wrong
//!   certificate subject, peer of a socket -- the same ---> DN                      |
//!   authorization identity (dn:, u:) -- the same ------> DN --> may_act_for --> identity of the session
//! ```

mod authz_rules;
mod exchange;
mod identity_map;
mod options;
mod passwords;

pub(crate) use exchange::{Exchange, SaslStep};
pub use identity_map::UnknownIdentity;
pub use options::AuthOptions;
pub(crate) use passwords::Decoys;
pub use passwords::PasswordCheck;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::core::clock::Entropy;

/// What a directory knows for authenticating people.
pub(crate) struct Auth {
    pub(crate) options: AuthOptions,
    /// Survives a reload of the settings.
    pub(crate) lasting: Arc<Lasting>,
}

/// What has to stay the same for as long as the server runs.
pub(crate) struct Lasting {
    /// Stored passwords to check in place of missing ones.
    pub(crate) decoys: Decoys,
    /// Makes salts for those who have none, the same ones whenever they ask.
    secret: OnceLock<[u8; 16]>,
    /// Whether SCRAM has met a password in clear, whose keys take time to derive.
    derived: AtomicBool,
}

impl Auth {
    pub(crate) fn new(options: AuthOptions) -> Auth {
        Auth {
            lasting: Arc::new(Lasting {
                decoys: Decoys::new(&options),
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

impl Lasting {
    fn note_derivation(&self) {
        self.derived.store(true, Ordering::Relaxed);
    }

    fn has_derived(&self) -> bool {
        self.derived.load(Ordering::Relaxed)
    }

    /// A salt for a name that has none stored: unpredictable, and the same every time.
    pub(crate) fn salt(&self, entropy: &dyn Entropy, mechanism: &str, user: &str) -> [u8; 16] {
        let secret = self.secret.get_or_init(|| entropy.random());
        fulgurite_auth::salt_for(secret, mechanism, user)
    }
}
