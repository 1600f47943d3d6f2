//! What may not be done, by whomever: read-only, forbidden operations, demands on how a client has bound and how its
//! connection is protected.

use thiserror::Error;

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

/// A word that means nothing where it stands.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown {what} \"{word}\"")]
pub struct UnknownWord {
    /// What was expected.
    pub what: &'static str,
    /// What was found.
    pub word: String,
}

impl UnknownWord {
    fn new(what: &'static str, word: &str) -> UnknownWord {
        UnknownWord {
            what,
            word: word.to_owned(),
        }
    }
}

impl Restrictions {
    /// Adds one word of slapd's `restrict`: an operation, `read`, `write`, `all`, `extended` or `extended=<OID>`.
    ///
    /// # Errors
    /// [`UnknownWord`].
    pub fn restrict(&mut self, word: &str) -> Result<(), UnknownWord> {
        let lower = word.to_ascii_lowercase();
        if let Some(oid) = lower.strip_prefix("extended=") {
            self.extended.push(oid.to_owned());
            return Ok(());
        }
        let set = &mut self.operations;
        match lower.as_str() {
            "add" => set.add = true,
            "bind" => set.bind = true,
            "compare" => set.compare = true,
            "delete" => set.delete = true,
            "extended" => set.extended = true,
            "modify" => set.modify = true,
            "rename" | "modrdn" => set.modify_dn = true,
            "search" => set.search = true,
            "read" => (set.search, set.compare) = (true, true),
            "write" => {
                (set.add, set.delete, set.modify, set.modify_dn) = (true, true, true, true);
            }
            "all" => {
                *set = Operations {
                    add: true,
                    bind: true,
                    compare: true,
                    delete: true,
                    extended: true,
                    modify: true,
                    modify_dn: true,
                    search: true,
                };
            }
            _ => return Err(UnknownWord::new("operation", word)),
        }
        Ok(())
    }
}

impl Require {
    /// Adds one word of slapd's `require`; `none` takes back all before it.
    ///
    /// # Errors
    /// [`UnknownWord`].
    pub fn add(&mut self, word: &str) -> Result<(), UnknownWord> {
        match word.to_ascii_lowercase().as_str() {
            "bind" => self.bind = true,
            "ldapv3" => self.ldap_v3 = true,
            "authc" => self.authentication = true,
            "sasl" => self.sasl = true,
            "strong" => self.strong = true,
            "none" => *self = Require::default(),
            _ => return Err(UnknownWord::new("condition", word)),
        }
        Ok(())
    }
}

impl Security {
    /// Adds one `<factor>=<bits>` of slapd's `security`.
    ///
    /// # Errors
    /// [`UnknownWord`] for a factor that does not exist or bits that are no number.
    pub fn add(&mut self, word: &str) -> Result<(), UnknownWord> {
        let unknown = || UnknownWord::new("security factor", word);
        let (factor, bits) = word.split_once('=').ok_or_else(unknown)?;
        let bits = bits.parse().map_err(|_| unknown())?;
        let slot = match factor.to_ascii_lowercase().as_str() {
            "ssf" => &mut self.ssf,
            "transport" => &mut self.transport,
            "tls" => &mut self.tls,
            "sasl" => &mut self.sasl,
            "update_ssf" => &mut self.update_ssf,
            "update_transport" => &mut self.update_transport,
            "update_tls" => &mut self.update_tls,
            "update_sasl" => &mut self.update_sasl,
            "simple_bind" => &mut self.simple_bind,
            _ => return Err(unknown()),
        };
        *slot = bits;
        Ok(())
    }
}

impl Allow {
    /// Adds one word of slapd's `allow`.
    ///
    /// # Errors
    /// [`UnknownWord`].
    pub fn add(&mut self, word: &str) -> Result<(), UnknownWord> {
        match word.to_ascii_lowercase().as_str() {
            "bind_v2" => self.bind_v2 = true,
            "bind_anon_cred" => self.bind_anon_cred = true,
            "bind_anon_dn" => self.bind_anon_dn = true,
            "update_anon" => self.update_anon = true,
            "proxy_authz_anon" => self.proxy_authz_anon = true,
            _ => return Err(UnknownWord::new("feature", word)),
        }
        Ok(())
    }
}

impl Disallow {
    /// Adds one word of slapd's `disallow`.
    ///
    /// # Errors
    /// [`UnknownWord`].
    pub fn add(&mut self, word: &str) -> Result<(), UnknownWord> {
        match word.to_ascii_lowercase().as_str() {
            "bind_anon" => self.bind_anon = true,
            "bind_simple" => self.bind_simple = true,
            "tls_2_anon" => self.tls_2_anon = true,
            "tls_authc" => self.tls_authc = true,
            "proxy_authz_non_critical" => self.proxy_authz_non_critical = true,
            "dontusecopy_non_critical" => self.dont_use_copy_non_critical = true,
            _ => return Err(UnknownWord::new("feature", word)),
        }
        Ok(())
    }
}
