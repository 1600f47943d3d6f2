//! What may not be done, by whomever: read-only, forbidden operations, demands on how a client has bound and how its
//! connection is protected.

/// What a database, or the whole directory, does not allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// Nothing is to be changed.
    pub read_only: bool,
    /// Operations that are not to be done.
    pub operations: Operations,
    /// Extended operations that are not to be done, by OID.
    pub extended: Vec<String>,
    /// What a client has to have done before anything else.
    pub require: Require,
    /// How well a connection has to be protected.
    pub security: Security,
}

impl Restrictions {
    /// Whether everything is allowed: the usual case, known at a glance.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Restrictions::default()
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set with names")]
pub struct Operations {
    /// Add.
    pub add: bool,
    /// Bind.
    pub bind: bool,
    /// Compare.
    pub compare: bool,
    /// Delete.
    pub delete: bool,
    /// All extended operations.
    pub extended: bool,
    /// Modify.
    pub modify: bool,
    /// Modify DN.
    pub modify_dn: bool,
    /// Search.
    pub search: bool,
}

/// What a client has to have done before anything but a bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set with names")]
pub struct Require {
    /// A bind has taken place.
    pub bind: bool,
    /// The bind was one of version 3.
    pub ldap_v3: bool,
    /// The client has authenticated.
    pub authentication: bool,
    /// It has done so by SASL.
    pub sasl: bool,
    /// It has done so by SASL, or by simple bind on a protected connection.
    pub strong: bool,
}

/// Security strength factors: key bits that a connection's protection has to have at least. Zero demands nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// Of all layers together.
    pub ssf: u32,
    /// Of what carries the connection: a local socket.
    pub transport: u32,
    /// Of TLS.
    pub tls: u32,
    /// Of a SASL layer.
    pub sasl: u32,
    /// For changes: of all layers together.
    pub update_ssf: u32,
    /// For changes: of what carries the connection.
    pub update_transport: u32,
    /// For changes: of TLS.
    pub update_tls: u32,
    /// For changes: of a SASL layer.
    pub update_sasl: u32,
    /// For simple binds: of all layers together.
    pub simple_bind: u32,
}

/// What is allowed that is not by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set with names")]
pub struct Allow {
    /// Binds of version 2.
    pub bind_v2: bool,
    /// An anonymous bind with a password that nobody looks at.
    pub bind_anon_cred: bool,
    /// A bind with a name and no password, which stays anonymous.
    pub bind_anon_dn: bool,
    /// Updates by clients that have not authenticated.
    pub update_anon: bool,
    /// The proxied authorization control for clients that have not authenticated.
    pub proxy_authz_anon: bool,
}

/// What is not allowed that is by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set with names")]
pub struct Disallow {
    /// Anonymous binds.
    pub bind_anon: bool,
    /// Simple binds.
    pub bind_simple: bool,
    /// Staying bound over StartTLS: it makes the connection anonymous.
    pub tls_2_anon: bool,
    /// StartTLS on a connection that has authenticated.
    pub tls_authc: bool,
    /// The proxied authorization control without criticality.
    pub proxy_authz_non_critical: bool,
    /// The don't-use-copy control without criticality.
    pub dont_use_copy_non_critical: bool,
}
