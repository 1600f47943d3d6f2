//! The current TLS context and its files, which are read again when they change.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use fulgurite_policy::TlsOptions;

use super::context::TlsContext;
use super::error::TlsError;
use super::files::FileStamps;

/// The interval of checks for changed files.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// The current TLS context.
pub(crate) struct Tls {
    options: TlsOptions,
    loaded: ArcSwap<TlsContext>,
    watched: Mutex<WatchState>,
}

/// The TLS of a server, which a change of the configuration may set while it runs.
pub(crate) struct TlsSlot(ArcSwapOption<Tls>);

impl TlsSlot {
    pub(crate) fn new(tls: Option<Tls>) -> TlsSlot {
        TlsSlot(ArcSwapOption::from_pointee(tls))
    }

    /// Returns the TLS of new connections; none if the server does not offer it.
    pub(crate) fn get(&self) -> Option<Arc<Tls>> {
        self.0.load_full()
    }

    /// Sets the TLS of new connections.
    pub(crate) fn set(&self, tls: Option<Tls>) {
        self.0.store(tls.map(Arc::new));
    }
}

struct WatchState {
    stamps: FileStamps,
    /// Changed files are read once they stop changing, because a renewal writes several of them.
    pending: Option<FileStamps>,
    looked_at: Instant,
}

impl Tls {
    /// Reads the files. Logs ignored options and certificates that clients will reject.
    ///
    /// # Errors
    /// [`TlsError`] with the file and the reason.
    pub(crate) fn new(options: &TlsOptions) -> Result<Tls, TlsError> {
        let stamps = FileStamps::of(options);
        let loaded = TlsContext::new(options)?;
        if let Some(file) = &options.dh_param_file {
            tracing::info!(
                "{}: not needed, only elliptic curves are used for key exchange",
                file.display()
            );
        }
        loaded.warn();
        Ok(Tls {
            options: options.clone(),
            loaded: ArcSwap::from_pointee(loaded),
            watched: Mutex::new(WatchState {
                stamps,
                pending: None,
                looked_at: Instant::now(),
            }),
        })
    }

    /// Returns the context of new connections.
    pub(crate) fn loaded(&self) -> Arc<TlsContext> {
        self.loaded.load_full()
    }

    /// Reads the files again, changed or not. After a failure the current context stays in force.
    pub(crate) fn reload(&self) {
        let stamps = FileStamps::of(&self.options);
        match TlsContext::new(&self.options) {
            Ok(loaded) => {
                loaded.warn();
                self.loaded.store(Arc::new(loaded));
                tracing::info!("TLS: certificates and keys have been read again");
            }
            Err(error) => {
                tracing::error!("TLS: the certificates in use stay in force: {error}");
            }
        }
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.stamps = stamps;
        watched.pending = None;
    }

    /// Reads the files again if they have changed and are stable.
    pub(crate) fn refresh(&self, now: Instant) {
        if self.is_due(now) {
            self.reload();
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if now.duration_since(watched.looked_at) < WATCH_INTERVAL {
            return false;
        }
        watched.looked_at = now;
        let stamps = FileStamps::of(&self.options);
        if stamps == watched.stamps {
            watched.pending = None;
            return false;
        }
        let settled = watched.pending.as_ref() == Some(&stamps);
        watched.pending = Some(stamps);
        settled
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fulgurite_policy::VerifyClient;
    use rcgen::{CertificateParams, KeyPair};

    use super::super::certificate;
    use super::*;

    /// Writes a certificate and its key.
    fn certify(certificate: &Path, key: &Path) -> Vec<u8> {
        let pair = KeyPair::generate().unwrap();
        let made = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let made = made.self_signed(&pair).unwrap();
        std::fs::write(certificate, made.pem()).unwrap();
        std::fs::write(key, pair.serialize_pem()).unwrap();
        made.der().to_vec()
    }

    fn options(folder: &Path) -> TlsOptions {
        TlsOptions {
            certificate_file: Some(folder.join("certificate")),
            key_file: Some(folder.join("key")),
            ..TlsOptions::default()
        }
    }

    #[test]
    fn changed_files_are_read_once_they_are_stable() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = (folder.path().join("certificate"), folder.path().join("key"));
        let first = certify(&certificate, &key);
        let tls = Tls::new(&options(folder.path())).unwrap();
        let end_point = |der: &[u8]| certificate::end_point(der);
        assert_eq!(tls.loaded().end_point, end_point(&first));
        let mut now = Instant::now();
        let mut look = || {
            now += WATCH_INTERVAL;
            tls.refresh(now);
            tls.loaded().end_point.clone()
        };
        assert_eq!(look(), end_point(&first));
        // A half-finished renewal changes nothing; the finished one takes effect.
        std::fs::write(&key, "no key of any kind").unwrap();
        assert_eq!(look(), end_point(&first));
        assert_eq!(look(), end_point(&first));
        let second = certify(&certificate, &key);
        assert_eq!(look(), end_point(&first), "it may still be changing");
        assert_eq!(look(), end_point(&second));
        let third = certify(&certificate, &key);
        tls.reload();
        assert_eq!(tls.loaded().end_point, end_point(&third));
    }

    #[test]
    fn unusable_files_are_reported_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        certify(&path("certificate"), &path("key"));
        certify(&path("other"), &path("other-key"));
        std::fs::write(path("empty"), "").unwrap();
        std::fs::write(path("cut"), "-----BEGIN CERTIFICATE-----\nMIIB").unwrap();
        std::fs::write(
            path("encrypted"),
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n",
        )
        .unwrap();
        let with = |certificate: &str, key: &str| TlsOptions {
            certificate_file: Some(path(certificate)),
            key_file: Some(path(key)),
            ..TlsOptions::default()
        };
        let asking = TlsOptions {
            verify_client: VerifyClient::Demand,
            ..with("certificate", "key")
        };
        for (options, words) in [
            (
                with("absent", "key"),
                &["cannot read the certificate", "/absent:", "No such file"][..],
            ),
            (
                with("certificate", "absent"),
                &["cannot read the key", "/absent:"],
            ),
            (with("empty", "key"), &["/empty ", "no CERTIFICATE section"]),
            (with("cut", "key"), &["/cut "]),
            (with("key", "key"), &["/key ", "no CERTIFICATE section"]),
            (
                with("certificate", "certificate"),
                &["/certificate ", "no PRIVATE KEY"],
            ),
            (
                with("certificate", "encrypted"),
                &["/encrypted ", "encrypted", "openssl"],
            ),
            (
                with("certificate", "other-key"),
                &["/other-key does not match", "/certificate"],
            ),
            (asking.clone(), &["TLSCACertificateFile"]),
            (
                TlsOptions {
                    ca_file: Some(path("empty")),
                    ..asking.clone()
                },
                &["authorities", "/empty "],
            ),
            (
                TlsOptions {
                    ca_file: Some(path("certificate")),
                    crl_file: Some(path("key")),
                    ..asking.clone()
                },
                &["revocation list", "/key "],
            ),
            (
                TlsOptions {
                    ca_path: Some(path("nowhere")),
                    ..asking
                },
                &["folder of authorities", "/nowhere"],
            ),
        ] {
            let text = match Tls::new(&options) {
                Ok(_) => panic!("{options:?} can be used"),
                Err(error) => error.to_string(),
            };
            assert!(!text.contains('\n'), "{text}");
            for word in words {
                assert!(text.contains(word), "{text} without {word}");
            }
        }
        // One file may hold certificate and key.
        let both = [
            std::fs::read(path("certificate")).unwrap(),
            std::fs::read(path("key")).unwrap(),
        ];
        std::fs::write(path("both"), both.concat()).unwrap();
        assert!(Tls::new(&with("both", "both")).is_ok());
    }
}
