//! The state of the console that its pages share, and its cookies.

use std::sync::Arc;

use crate::accounts::KnownAccounts;
use crate::options::ConsoleOptions;
use crate::sessions::Sessions;
use crate::throttle::Throttle;

/// The console behind HTTP.
pub(crate) struct App {
    pub(crate) options: ConsoleOptions,
    pub(crate) sessions: Sessions,
    pub(crate) throttle: Throttle,
    pub(crate) known: KnownAccounts,
}

impl App {
    pub(crate) fn new(options: ConsoleOptions) -> App {
        App {
            sessions: Sessions::new(Arc::new(options.about.clone())),
            options,
            throttle: Throttle::default(),
            known: KnownAccounts::default(),
        }
    }

    /// Returns true if browsers speak TLS with it.
    pub(crate) fn is_secure(&self) -> bool {
        self.options.tls.is_some()
    }

    /// Returns the name of a cookie. Browsers keep the prefix to secure cookies of this host.
    pub(crate) fn cookie_name(&self, name: &str) -> String {
        match self.is_secure() {
            true => format!("__Host-{name}"),
            false => name.to_owned(),
        }
    }

    /// Returns the value of `Set-Cookie`; an empty value removes the cookie.
    pub(crate) fn cookie(&self, name: &str, value: &str) -> String {
        let secure = if self.is_secure() { "; Secure" } else { "" };
        let age = if value.is_empty() { "; Max-Age=0" } else { "" };
        let name = self.cookie_name(name);
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{age}")
    }
}
