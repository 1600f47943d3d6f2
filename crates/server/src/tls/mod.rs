//! TLS on listeners and by StartTLS, by rustls.
//!
//! ```text
//!   files --load--> Loaded { ServerConfig, end-point hash } --new connection--> Layer --handshake--> TlsFacts
//!     ^                  ^
//!     |  changed?        | replaced as a whole; connections keep what they began with
//!     '--- Tls::refresh -'
//! ```

mod certificate;
mod error;
mod files;
mod layer;
mod load;
mod options;
mod suites;
mod verifier;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

pub use error::TlsError;
use files::Stamps;
pub(crate) use layer::{Layer, Received};
pub(crate) use load::Loaded;
pub use options::{CrlCheck, TlsOptions, TlsVersion, VerifyClient};

/// How often the files are looked at for changes.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// TLS as it is set up now.
pub(crate) struct Tls {
    options: TlsOptions,
    loaded: ArcSwap<Loaded>,
    watched: Mutex<Watched>,
}

struct Watched {
    stamps: Stamps,
    /// Changed files are read when they have stopped changing: a renewal writes several of them.
    pending: Option<Stamps>,
    looked_at: Instant,
}

impl Tls {
    /// Reads the files. Notes about options that are accepted and not needed, and about certificates that will not be
    /// believed, go to the log.
    ///
    /// # Errors
    /// [`TlsError`], with the file and what is wrong with it.
    pub(crate) fn new(options: &TlsOptions) -> Result<Tls, TlsError> {
        let stamps = Stamps::of(options);
        let loaded = Loaded::new(options)?;
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
            watched: Mutex::new(Watched {
                stamps,
                pending: None,
                looked_at: Instant::now(),
            }),
        })
    }

    /// What new connections begin with.
    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        self.loaded.load_full()
    }

    /// Reads the files again, whether they look changed or not. What cannot be used leaves what there is in force.
    pub(crate) fn reload(&self) {
        let stamps = Stamps::of(&self.options);
        match Loaded::new(&self.options) {
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

    /// Reads the files again if they have changed and do not change any more.
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
        let stamps = Stamps::of(&self.options);
        if stamps == watched.stamps {
            watched.pending = None;
            return false;
        }
        let settled = watched.pending.as_ref() == Some(&stamps);
        watched.pending = Some(stamps);
        settled
    }
}
