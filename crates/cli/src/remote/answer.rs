//! Results of a server as errors that a person can act on.

use anyhow::anyhow;
use fulgurite_client::{LdapResult, ResultCode};

/// An entry that a command needs is not there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct MissingEntry(pub(crate) String);

/// Fails unless a result is success. `doing` begins the sentence.
pub(crate) fn expect(result: &LdapResult, doing: impl FnOnce() -> String) -> anyhow::Result<()> {
    if result.is_success() {
        return Ok(());
    }
    Err(refused(result, &doing()))
}

/// Returns the error of a result.
pub(crate) fn refused(result: &LdapResult, doing: &str) -> anyhow::Error {
    let mut text = format!("{doing}: {}", result.code.name());
    if !result.diagnostic.is_empty() {
        text.push_str(": ");
        text.push_str(&result.diagnostic);
    }
    match result.code {
        ResultCode::Referral => {
            let elsewhere = result.referrals.join(" ");
            text.push_str(&format!("; ask {elsewhere} by --url"));
        }
        ResultCode::InsufficientAccessRights | ResultCode::StrongerAuthRequired => {
            text.push_str("; --as DN binds as somebody who may");
        }
        ResultCode::ConfidentialityRequired => text.push_str("; --start-tls begins TLS"),
        _ => {}
    }
    anyhow!(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_tell_what_helps() {
        let mut result = LdapResult::with_diagnostic(ResultCode::Referral, "read-only");
        result.referrals = vec!["ldap://one/".to_owned()];
        assert_eq!(
            refused(&result, "cannot add cn=x").to_string(),
            "cannot add cn=x: referral: read-only; ask ldap://one/ by --url"
        );
        let result = LdapResult::new(ResultCode::InsufficientAccessRights);
        assert!(
            refused(&result, "x")
                .to_string()
                .ends_with("--as DN binds as somebody who may")
        );
        assert!(expect(&LdapResult::success(), String::new).is_ok());
    }
}
