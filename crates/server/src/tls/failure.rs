//! Reasons of failed TLS handshakes, in words for an administrator.

use rustls::{AlertDescription, CertificateError, Error};

/// Returns the reason of a failure.
pub(crate) fn reason(error: &Error) -> String {
    let text = match error {
        Error::InvalidCertificate(fault) => return certificate_fault(fault),
        Error::NoCertificatesPresented => "the client has sent no certificate",
        Error::AlertReceived(AlertDescription::UnknownCA) => {
            "the client does not know the authority of the server's certificate"
        }
        Error::AlertReceived(AlertDescription::CertificateExpired) => {
            "the client finds the server's certificate expired"
        }
        Error::AlertReceived(
            AlertDescription::BadCertificate | AlertDescription::CertificateUnknown,
        ) => "the client rejects the server's certificate",
        Error::InvalidMessage(_) => "the client does not speak TLS",
        Error::PeerIncompatible(_) => {
            return format!("client and server have no version or cipher in common ({error})");
        }
        _ => return error.to_string(),
    };
    text.to_owned()
}

fn certificate_fault(fault: &CertificateError) -> String {
    let text = match fault {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet"
        }
        CertificateError::Revoked => "is revoked",
        CertificateError::UnknownIssuer => "is signed by no configured authority",
        other if format!("{other:?}").contains("UnsupportedCertVersion") => {
            "is not of X.509 version 3"
        }
        other => return format!("the client's certificate is invalid: {other}"),
    };
    format!("the client's certificate {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_named_in_plain_words() {
        for (error, text) in [
            (
                Error::InvalidCertificate(CertificateError::Expired),
                "the client's certificate has expired",
            ),
            (
                Error::InvalidCertificate(CertificateError::UnknownIssuer),
                "the client's certificate is signed by no configured authority",
            ),
            (
                Error::NoCertificatesPresented,
                "the client has sent no certificate",
            ),
            (
                Error::AlertReceived(AlertDescription::UnknownCA),
                "the client does not know the authority of the server's certificate",
            ),
        ] {
            assert_eq!(reason(&error), text);
        }
    }
}
