//! What is allowed, asked for and refused: sets of features as slapd.conf(5) names them.

use crate::setting::{Setting, Value, words};

use super::listed;

/// Declares a set of features, each a truth value with its word.
macro_rules! features {
    ($(#[$doc:meta])* $name:ident { $( $(#[$field_doc:meta])* $field:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $( $(#[$field_doc])* pub $field: bool, )* }

        impl $name {
            /// Adds the feature of a word, in any case of letters. False if there is none of that name.
            pub(crate) fn add(&mut self, word: &str) -> bool {
                $( if word.eq_ignore_ascii_case($word) { self.$field = true; return true; } )*
                false
            }

            /// The words of what is in the set.
            pub fn words(&self) -> Vec<&'static str> {
                let all = [$((self.$field, $word)),*];
                all.into_iter().filter_map(|(set, word)| set.then_some(word)).collect()
            }
        }

        impl Setting for $name {
            fn read(value: Value) -> Result<Self, String> {
                let mut features = Self::default();
                for word in words(value)? {
                    if !features.add(&word) {
                        return Err(format!("\"{word}\" is none of {}", listed(&[$($word),*])));
                    }
                }
                Ok(features)
            }

            fn show(&self) -> String {
                self.words().join(" ")
            }
        }
    };
}

features! {
    /// Features that are off unless allowed.
    Allow {
        /// Binds of LDAP version 2.
        bind_v2 = "bind_v2",
        /// Anonymous binds that carry a password.
        bind_anon_cred = "bind_anon_cred",
        /// Binds that carry a name and no password ("unauthenticated", RFC 4513 section 5.1.2).
        bind_anon_dn = "bind_anon_dn",
        /// Updates by anonymous clients, as far as access rules let them.
        update_anon = "update_anon",
        /// Proxied authorization by anonymous clients.
        proxy_authz_anon = "proxy_authz_anon",
    }
}

features! {
    /// Features that are on unless refused.
    Disallow {
        /// Anonymous binds. Does not keep anonymous clients from reading.
        bind_anon = "bind_anon",
        /// Simple binds.
        bind_simple = "bind_simple",
        /// Forgetting the identity when StartTLS comes.
        tls_2_anon = "tls_2_anon",
        /// StartTLS of a client that has an identity.
        tls_authc = "tls_authc",
        /// Proxied authorization whose control is not critical.
        proxy_authz_non_critical = "proxy_authz_non_critical",
        /// dontUseCopy whose control is not critical.
        dontusecopy_non_critical = "dontusecopy_non_critical",
    }
}

features! {
    /// Conditions for any operation but binding.
    Require {
        /// A bind before.
        bind = "bind",
        /// LDAP version 3.
        ldap_v3 = "LDAPv3",
        /// An identity.
        authc = "authc",
        /// An identity by SASL.
        sasl = "SASL",
        /// An identity by SASL, or by a password over a protected connection.
        strong = "strong",
        /// None of the conditions that hold for all databases.
        none = "none",
    }
}

impl Require {
    /// The conditions of one database, given those of all: `none` first wipes the latter away.
    #[must_use]
    pub fn with(self, all: Require) -> Require {
        let all = if self.none { Require::default() } else { all };
        Require {
            bind: self.bind || all.bind,
            ldap_v3: self.ldap_v3 || all.ldap_v3,
            authc: self.authc || all.authc,
            sasl: self.sasl || all.sasl,
            strong: self.strong || all.strong,
            none: false,
        }
    }
}

/// Least strengths, in bits of the key; 0 asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// Overall.
    pub ssf: u32,
    /// Of the transport below TLS.
    pub transport: u32,
    /// Of TLS.
    pub tls: u32,
    /// Of the SASL layer.
    pub sasl: u32,
    /// Overall, for updates.
    pub update_ssf: u32,
    /// Of the transport, for updates.
    pub update_transport: u32,
    /// Of TLS, for updates.
    pub update_tls: u32,
    /// Of the SASL layer, for updates.
    pub update_sasl: u32,
    /// Overall, for simple binds.
    pub simple_bind: u32,
}

impl Security {
    fn factors(&mut self) -> [(&'static str, &mut u32); 9] {
        [
            ("ssf", &mut self.ssf),
            ("transport", &mut self.transport),
            ("tls", &mut self.tls),
            ("sasl", &mut self.sasl),
            ("update_ssf", &mut self.update_ssf),
            ("update_transport", &mut self.update_transport),
            ("update_tls", &mut self.update_tls),
            ("update_sasl", &mut self.update_sasl),
            ("simple_bind", &mut self.simple_bind),
        ]
    }

    /// Takes one factor, `tls=128`.
    ///
    /// # Errors
    /// Whether the name is unknown, or the number none.
    pub(crate) fn add(&mut self, word: &str) -> Result<(), SecurityMistake> {
        let (name, number) = word.split_once('=').ok_or(SecurityMistake::Factor)?;
        let factors = self.factors();
        let place = factors
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .ok_or(SecurityMistake::Factor)?;
        *place.1 = number.parse().map_err(|_| SecurityMistake::Number)?;
        Ok(())
    }

    /// The factors that ask for something, as they are written.
    pub fn words(mut self) -> Vec<String> {
        let factors = self.factors().into_iter();
        factors
            .filter(|(_, bits)| **bits > 0)
            .map(|(name, bits)| format!("{name}={bits}"))
            .collect()
    }

    /// The strengths that hold for one database, given those of all: of each pair the greater.
    #[must_use]
    pub fn with(mut self, mut all: Security) -> Security {
        for ((_, own), (_, general)) in self.factors().into_iter().zip(all.factors()) {
            *own = (*own).max(*general);
        }
        self
    }
}

/// What is wrong with a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecurityMistake {
    /// There is no such factor.
    Factor,
    /// It is not given a number.
    Number,
}

impl Setting for Security {
    fn read(value: Value) -> Result<Self, String> {
        let mut security = Self::default();
        for word in words(value)? {
            security.add(&word).map_err(|mistake| match mistake {
                SecurityMistake::Factor => format!(
                    "\"{word}\" is no factor; write one of {} with a number, as in \"tls=128\"",
                    listed(&Security::default().factors().map(|(name, _)| name))
                ),
                SecurityMistake::Number => format!("\"{word}\" does not give a number"),
            })?;
        }
        Ok(security)
    }

    fn show(&self) -> String {
        self.words().join(" ")
    }
}

/// Operations that are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrict {
    /// Bind.
    pub bind: bool,
    /// Add.
    pub add: bool,
    /// Modify.
    pub modify: bool,
    /// Modify DN.
    pub rename: bool,
    /// Delete.
    pub delete: bool,
    /// Search.
    pub search: bool,
    /// Compare.
    pub compare: bool,
    /// All extended operations.
    pub extended: bool,
    /// Extended operations by their object identifiers.
    pub extended_oids: Vec<String>,
}

impl Restrict {
    /// Takes one operation: `add`, `read` (search and compare), `write`, `all`, `extended=OID`. False if it is none.
    pub(crate) fn add_word(&mut self, word: &str) -> bool {
        match word.to_ascii_lowercase().as_str() {
            "bind" => self.bind = true,
            "add" => self.add = true,
            "modify" => self.modify = true,
            "rename" | "modrdn" => self.rename = true,
            "delete" => self.delete = true,
            "search" => self.search = true,
            "compare" => self.compare = true,
            "extended" => self.extended = true,
            "read" => (self.search, self.compare) = (true, true),
            "write" => {
                (self.add, self.modify, self.rename, self.delete) = (true, true, true, true);
            }
            "all" => {
                *self = Self {
                    bind: true,
                    add: true,
                    modify: true,
                    rename: true,
                    delete: true,
                    search: true,
                    compare: true,
                    extended: true,
                    extended_oids: Vec::new(),
                };
            }
            other => return self.add_oid(other),
        }
        true
    }

    fn add_oid(&mut self, word: &str) -> bool {
        let named = word.strip_prefix("extended=").and_then(known_extension);
        if let Some(oid) = &named {
            self.extended_oids.push(oid.clone());
        }
        named.is_some()
    }

    /// What is refused in one database, given what is refused in all.
    #[must_use]
    pub fn with(mut self, all: &Restrict) -> Restrict {
        self.bind |= all.bind;
        self.add |= all.add;
        self.modify |= all.modify;
        self.rename |= all.rename;
        self.delete |= all.delete;
        self.search |= all.search;
        self.compare |= all.compare;
        self.extended |= all.extended;
        self.extended_oids.extend_from_slice(&all.extended_oids);
        self
    }

    /// The operations as they are written.
    pub fn words(&self) -> Vec<String> {
        let plain = [
            (self.bind, "bind"),
            (self.add, "add"),
            (self.modify, "modify"),
            (self.rename, "rename"),
            (self.delete, "delete"),
            (self.search, "search"),
            (self.compare, "compare"),
            (self.extended, "extended"),
        ];
        let plain = plain.into_iter().filter(|(set, _)| *set);
        plain
            .map(|(_, word)| word.to_owned())
            .chain(
                self.extended_oids
                    .iter()
                    .map(|oid| format!("extended={oid}")),
            )
            .collect()
    }
}

/// Extended operations that can be restricted one by one.
fn known_extension(oid: &str) -> Option<String> {
    const KNOWN: [&str; 4] = [
        "1.3.6.1.4.1.1466.20037",
        "1.3.6.1.4.1.4203.1.11.1",
        "1.3.6.1.4.1.4203.1.11.3",
        "1.3.6.1.1.8",
    ];
    KNOWN.contains(&oid).then(|| oid.to_owned())
}

impl Setting for Restrict {
    fn read(value: Value) -> Result<Self, String> {
        let mut restrict = Self::default();
        for word in words(value)? {
            if !restrict.add_word(&word) {
                return Err(format!(
                    "\"{word}\" is none of bind, add, modify, rename, delete, search, compare, extended, read, \
                     write, all and extended=OID"
                ));
            }
        }
        Ok(restrict)
    }

    fn show(&self) -> String {
        self.words().join(" ")
    }
}
