//! The end of the certificate in force, which a renewed file changes.

use std::fmt;

/// Returns the end of the certificate's validity, in seconds since 1970.
type Source = dyn Fn() -> Option<u64> + Send + Sync;

/// The source of the end.
pub(crate) struct CertificateEnd(Box<Source>);

impl CertificateEnd {
    pub(crate) fn new(source: impl Fn() -> Option<u64> + Send + Sync + 'static) -> CertificateEnd {
        CertificateEnd(Box::new(source))
    }

    /// Returns the end in seconds since 1970; `None` without a certificate.
    pub(crate) fn get(&self) -> Option<u64> {
        (self.0)()
    }
}

impl fmt::Debug for CertificateEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CertificateEnd").field(&self.get()).finish()
    }
}
