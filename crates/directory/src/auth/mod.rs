//! Authentication: passwords, SASL exchanges, and the map from users to entries.
//!
//! ```text
//!   simple bind: DN ------------------------------------------.
//!   SASL: user name -- sasl_dn, authz-regexp (identity_map) --> DN --> passwords --> right or wrong
//!   certificate subject, peer of a socket -- the same -------> DN                      |
//!   authorization identity (dn:, u:) -- the same ----------> DN --> may_act_for --> identity of the session
//! ```

mod again;
mod check;
mod claim;
mod dummy_hash;
mod exchange;
mod identity_map;
mod options;
mod outcome;
mod passwords;
mod proxied;
mod scram;
mod state;
mod stored_values;

pub use check::PasswordCheck;
pub(crate) use check::PolicedBind;
pub(crate) use claim::Claim;
pub(crate) use exchange::SaslStep;
pub use identity_map::UnknownIdentity;
pub use options::AuthOptions;
pub use outcome::BindOutcome;
pub(crate) use outcome::PolicyAnswer;
pub(crate) use state::{Auth, Authenticator};
