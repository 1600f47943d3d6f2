//! Sets of features that slapd.conf(5) allows, disallows or requires by name.

/// A set whose members have words.
pub trait FeatureSet: Default {
    /// The words of all members, in the order in which they are written.
    const WORDS: &'static [&'static str];

    /// Returns the members with their words.
    fn members(&mut self) -> impl Iterator<Item = (&'static str, &mut bool)>;

    /// Adds the member of a word, in any case of letters. Returns false if there is none.
    fn add(&mut self, word: &str) -> bool {
        let found = self
            .members()
            .find(|(known, _)| known.eq_ignore_ascii_case(word));
        found.map(|(_, member)| *member = true).is_some()
    }

    /// Returns the words of the members that are set.
    fn words(mut self) -> Vec<&'static str> {
        let set = self.members().filter(|(_, member)| **member);
        set.map(|(word, _)| word).collect()
    }
}

/// Declares a set of features, each with its word.
macro_rules! features {
    ($(#[$doc:meta])* $name:ident { $( $(#[$field_doc:meta])* $field:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[allow(clippy::struct_excessive_bools, reason = "a set whose members have names")]
        pub struct $name { $( $(#[$field_doc])* pub $field: bool, )* }

        impl FeatureSet for $name {
            const WORDS: &'static [&'static str] = &[$($word),*];

            fn members(&mut self) -> impl Iterator<Item = (&'static str, &mut bool)> {
                [$(($word, &mut self.$field)),*].into_iter()
            }
        }
    };
}

features! {
    /// Features that are off unless the configuration allows them.
    Allow {
        /// Binds of LDAP version 2.
        bind_v2 = "bind_v2",
        /// Anonymous binds that carry a password.
        bind_anon_cred = "bind_anon_cred",
        /// Binds with a name and without a password ("unauthenticated", RFC 4513 section 5.1.2).
        bind_anon_dn = "bind_anon_dn",
        /// Updates by anonymous clients, if access rules permit them.
        update_anon = "update_anon",
        /// Proxied authorization by anonymous clients.
        proxy_authz_anon = "proxy_authz_anon",
    }
}

features! {
    /// Features that are on unless the configuration disallows them.
    Disallow {
        /// Anonymous binds. Anonymous clients may read all the same.
        bind_anon = "bind_anon",
        /// Simple binds.
        bind_simple = "bind_simple",
        /// Keeping the identity over StartTLS.
        tls_2_anon = "tls_2_anon",
        /// StartTLS of an authenticated client.
        tls_authc = "tls_authc",
        /// The proxied authorization control without criticality.
        proxy_authz_non_critical = "proxy_authz_non_critical",
        /// The dontUseCopy control without criticality.
        dont_use_copy_non_critical = "dontusecopy_non_critical",
    }
}

features! {
    /// Conditions that a client must meet before any operation but a bind.
    Require {
        /// A bind has taken place.
        bind = "bind",
        /// The client speaks LDAP version 3.
        ldap_v3 = "LDAPv3",
        /// The client is authenticated.
        authentication = "authc",
        /// The client is authenticated by SASL.
        sasl = "SASL",
        /// The client is authenticated by SASL, or by a password over a protected connection.
        strong = "strong",
        /// The conditions of all databases do not hold for this one.
        none = "none",
    }
}

impl Require {
    /// Returns the conditions of one database with those of all databases added, unless `none` is
    /// set.
    #[must_use]
    pub fn with(self, all: Require) -> Require {
        let all = if self.none { Require::default() } else { all };
        Require {
            bind: self.bind || all.bind,
            ldap_v3: self.ldap_v3 || all.ldap_v3,
            authentication: self.authentication || all.authentication,
            sasl: self.sasl || all.sasl,
            strong: self.strong || all.strong,
            none: false,
        }
    }
}
