//! Who a connection speaks for.

use std::sync::Arc;

use fulgurite_access::Subject;
use fulgurite_schema::Dn;

/// The authorisation state of one connection. Cheap to clone: a write carries a copy of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    identity: Identity,
}

/// An authorisation identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// Nobody has authenticated.
    #[default]
    Anonymous,
    /// A name with ordinary rights.
    User(Name),
    /// The root of the directory: access rules and limits do not apply.
    Root(Name),
}

/// A name somebody has authenticated with. Names are equal when their normal forms are.
#[derive(Clone, Debug)]
pub struct Name {
    normal: Arc<str>,
    pretty: Arc<str>,
}

impl Session {
    /// A session in the state every connection begins with: anonymous.
    #[must_use]
    pub fn new() -> Session {
        Session::default()
    }

    /// A session that speaks for an identity already established.
    #[must_use]
    pub fn of(identity: Identity) -> Session {
        Session { identity }
    }

    /// Whom it speaks for.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Replaces the identity: the end of a bind.
    pub fn set_identity(&mut self, identity: Identity) {
        self.identity = identity;
    }

    /// Back to anonymous: the beginning of a bind (RFC 4511, section 4.2.1).
    pub fn reset(&mut self) {
        self.identity = Identity::Anonymous;
    }

    /// Whether somebody has authenticated.
    #[must_use]
    pub fn is_authenticated(&self) -> bool {
        self.identity != Identity::Anonymous
    }

    /// Whether access rules and limits do not apply.
    #[must_use]
    pub fn is_root(&self) -> bool {
        matches!(self.identity, Identity::Root(_))
    }

    /// The authenticated name as shown to people; empty when anonymous.
    #[must_use]
    pub fn name(&self) -> &str {
        self.identity.name().map_or("", Name::pretty)
    }

    /// The subject access is decided for.
    #[must_use]
    pub fn subject(&self) -> Subject<'_> {
        match &self.identity {
            Identity::Anonymous => Subject::Anonymous,
            Identity::User(name) => Subject::User(&name.normal),
            Identity::Root(_) => Subject::Root,
        }
    }
}

impl Identity {
    /// The authenticated name, if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&Name> {
        match self {
            Identity::Anonymous => None,
            Identity::User(name) | Identity::Root(name) => Some(name),
        }
    }
}

impl Name {
    /// The form that compares.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// The form people see.
    #[must_use]
    pub fn pretty(&self) -> &str {
        &self.pretty
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.normal == other.normal
    }
}

impl Eq for Name {}

impl From<&Dn> for Name {
    fn from(dn: &Dn) -> Name {
        Name {
            normal: dn.normal().into(),
            pretty: dn.pretty().into(),
        }
    }
}
