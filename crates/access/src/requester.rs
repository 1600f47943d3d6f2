//! The requester of an operation, and its connection.

/// The requester of an operation. Names are in normal form; an empty one is anonymous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requester<'s> {
    /// The name for which access is decided.
    pub name: &'s str,
    /// The authenticated name. It differs from `name` under proxied authorization.
    pub real_name: &'s str,
    /// No rule applies to the root of the directory.
    pub root: bool,
    /// The connection.
    pub wire: Wire<'s>,
}

/// The facts about a connection that rules may test.
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
    /// Returns an anonymous requester, over an unknown connection.
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

    /// Returns an authenticated requester, by the normal form of its name.
    #[must_use]
    pub fn user(name: &'s str) -> Requester<'s> {
        Requester {
            name,
            real_name: name,
            ..Requester::default()
        }
    }

    /// Returns the same requester over that connection.
    #[must_use]
    pub fn over(self, wire: Wire<'s>) -> Requester<'s> {
        Requester { wire, ..self }
    }
}
