//! Connections to other servers: the address, the socket and its options, TLS, whole messages.

mod client_tls;
pub(crate) mod connect;
pub(crate) mod stream;

use fulgurite_directory::{Entropy as _, SystemEntropy};
use fulgurite_replica::BindSecrets;

/// Returns new randomness for the exchange of one bind.
pub(crate) fn bind_secrets() -> BindSecrets {
    let mut secrets = [0; 18];
    let random = [SystemEntropy.random(), SystemEntropy.random()].concat();
    secrets
        .iter_mut()
        .zip(random)
        .for_each(|(to, from)| *to = from);
    BindSecrets(secrets)
}
