//! Who asks, and over what connection.

/// Who asks. Names are in normal form; an empty one is anonymous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requester<'s> {
    /// For whom access is decided.
    pub name: &'s str,
    /// Who has authenticated: differs from `name` under proxied authorization.
    pub real_name: &'s str,
    /// No rule applies to the root of the directory.
    pub root: bool,
    /// The connection.
    pub wire: Wire<'s>,
}

/// What rules may ask of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wire<'s> {
    /// The client's end: `IP=192.0.2.1:4711`, `IP=[::1]:4711`, `PATH=/run/ldapi`.
    pub peer: &'s str,
    /// Our end, in the same form.
    pub socket: &'s str,
    /// The listener's URL.
    pub url: &'s str,
    /// The client's host name; empty where it is not looked up.
    pub domain: &'s str,
    /// Security strength factors.
    pub strength: Strengths,
}

/// Security strength factors, about the number of key bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strengths {
    /// The strongest of the others.
    pub overall: u32,
    /// Of the transport.
    pub transport: u32,
    /// Of TLS.
    pub tls: u32,
    /// Of the SASL layer.
    pub sasl: u32,
}

impl<'s> Requester<'s> {
    /// Nobody, over a connection nothing is known of.
    #[must_use]
    pub fn anonymous() -> Requester<'s> {
        Requester::default()
    }

    /// Returns the root of the directory.
    #[must_use]
    pub fn root() -> Requester<'s> {
        Requester {
            root: true,
            ..Requester::default()
        }
    }

    /// Somebody who has authenticated, by the normal form of the name.
    #[must_use]
    pub fn user(name: &'s str) -> Requester<'s> {
        Requester {
            name,
            real_name: name,
            ..Requester::default()
        }
    }

    /// Returns the same over that connection.
    #[must_use]
    pub fn over(self, wire: Wire<'s>) -> Requester<'s> {
        Requester { wire, ..self }
    }
}
