//! The life of a transaction.
//!
//! ```text
//!             .---- a child begins ----> HasChild ---- it ends ----.
//!          Active <------------------------------------------------'        only an active one can be used
//!             |---- a call runs a comparison function ----> Busy ---- it has returned ----> Active
//!             |---- reset ----> Reset ---- renew ----> Active                         readers only
//!             '---- the environment is closed, and this cannot be ended ----> Orphaned
//! ```

/// Tells which calls a transaction accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// All calls.
    Active,
    /// None until the child ends.
    HasChild,
    /// None until renewed: there is no snapshot.
    Reset,
    /// None: a call that runs a comparison function of the program has not returned.
    Busy,
    /// Only abort and commit: the environment was closed.
    Orphaned,
}
