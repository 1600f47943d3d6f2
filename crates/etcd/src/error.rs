//! The errors of a call.

use thiserror::Error;

/// The reason why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EtcdError {
    /// A setting is wrong.
    #[error("{0}")]
    Setting(String),
    /// No member has answered in time. The call may be done, or will be.
    #[error("no member of etcd answers: {0}")]
    Silence(String),
    /// etcd has refused the call, for certain.
    #[error("etcd refuses: {message}")]
    Refused {
        /// The code of gRPC.
        code: u64,
        /// etcd's words.
        message: String,
    },
    /// The database of etcd is at its quota. A write may have been the last one that was taken.
    #[error("etcd is full: compact, defragment, and disarm the alarm NOSPACE")]
    Full,
}

/// Codes of gRPC that leave the outcome open: cancelled, unknown, deadline exceeded, aborted,
/// internal, unavailable, data loss.
const OPEN_CODES: [u64; 7] = [1, 2, 4, 10, 13, 14, 15];

impl EtcdError {
    /// Returns the error of an answer that is no result.
    pub(crate) fn of(status: u16, code: Option<u64>, message: &str) -> EtcdError {
        if message.contains("database space exceeded") {
            return EtcdError::Full;
        }
        match code {
            Some(code) if !OPEN_CODES.contains(&code) => EtcdError::Refused {
                code,
                message: message.to_owned(),
            },
            _ => EtcdError::Silence(format!("status {status}, {message}")),
        }
    }

    /// Returns true if a new token may help: the old one has ended, or etcd has forgotten it.
    pub(crate) fn is_about_token(&self) -> bool {
        match self {
            EtcdError::Refused { code: 16, .. } => true,
            EtcdError::Refused { message, .. } => {
                message.contains("invalid auth token") || message.contains("user name is empty")
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_outcome_is_no_refusal() {
        let full = "etcdserver: mvcc: database space exceeded";
        assert_eq!(EtcdError::of(429, Some(8), full), EtcdError::Full);
        let lost = "etcdserver: request timed out, possibly due to previous leader failure";
        assert!(matches!(
            EtcdError::of(503, Some(14), lost),
            EtcdError::Silence(_)
        ));
        // A proxy between, which knows no codes.
        assert!(matches!(
            EtcdError::of(502, None, ""),
            EtcdError::Silence(_)
        ));
        let denied = EtcdError::of(403, Some(7), "etcdserver: permission denied");
        assert!(matches!(denied, EtcdError::Refused { code: 7, .. }));
        assert!(!denied.is_about_token());
        let ended = "etcdserver: invalid auth token";
        assert!(EtcdError::of(401, Some(16), ended).is_about_token());
    }
}
