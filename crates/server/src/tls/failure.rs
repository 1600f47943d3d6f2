//! Reasons of failed TLS handshakes, in words for an administrator.

use rustls::{AlertDescription, CertificateError, Error};

/// Returns the reason of a failure. `received` are the client's bytes that caused it.
pub(crate) fn reason(error: &Error, received: &[u8]) -> String {
    match (error, received) {
        (Error::AlertReceived(_), _) => reason_of(error),
        // GnuTLS sends its alert in clear, when the server already expects protected records.
        (_, [ALERT, 3, _, 0, 2, _, alert, ..]) => {
            reason_of(&Error::AlertReceived(AlertDescription::from(*alert)))
        }
        (Error::InvalidMessage(_), [20..=24, 3, ..]) => {
            format!("the client has sent a wrong message of TLS ({error})")
        }
        _ => reason_of(error),
    }
}

/// The type of a record with an alert.
const ALERT: u8 = 21;

fn reason_of(error: &Error) -> String {
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
            assert_eq!(reason(&error, b""), text);
        }
    }

    #[test]
    fn an_alert_in_clear_and_broken_records_are_no_other_protocol() {
        let error = Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
        for (received, text) in [
            (&b"GET / HTTP/1.1"[..], "the client does not speak TLS"),
            (
                &b"\x15\x03\x03\0\x02\x02\x2a"[..],
                "the client rejects the server's certificate",
            ),
            (
                &b"\x15\x03\x03\0\x02\x02\x30"[..],
                "the client does not know the authority of the server's certificate",
            ),
            (
                &b"\x16\x03\x01\0\x05hello"[..],
                "the client has sent a wrong message of TLS (",
            ),
        ] {
            let told = reason(&error, received);
            assert!(told.starts_with(text), "{told}");
        }
    }
}
