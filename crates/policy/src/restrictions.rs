//! Operations that a database refuses, and strengths that a connection needs.

use crate::Require;

/// All that a database, or the whole directory, refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// Updates are refused.
    pub read_only: bool,
    /// Operations that are refused.
    pub restrict: Restrict,
    /// Conditions that a client must meet before anything but a bind.
    pub require: Require,
    /// Strengths that a connection needs.
    pub security: Security,
}

impl Restrictions {
    /// Returns true if everything is allowed.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Restrictions::default()
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "a set whose members have names"
)]
pub struct Operations {
    /// Bind.
    pub bind: bool,
    /// Add.
    pub add: bool,
    /// Modify.
    pub modify: bool,
    /// Modify DN.
    pub modify_dn: bool,
    /// Delete.
    pub delete: bool,
    /// Search.
    pub search: bool,
    /// Compare.
    pub compare: bool,
    /// All extended operations.
    pub extended: bool,
}

impl Operations {
    /// Every operation.
    const ALL: Operations = Operations {
        bind: true,
        add: true,
        modify: true,
        modify_dn: true,
        delete: true,
        search: true,
        compare: true,
        extended: true,
    };

    /// Returns true if the set holds no operation but search and compare.
    #[must_use]
    pub fn is_reads_or_none(self) -> bool {
        let others = Operations {
            search: false,
            compare: false,
            ..self
        };
        others == Operations::default()
    }

    fn members(&mut self) -> [(&'static str, &mut bool); 8] {
        [
            ("bind", &mut self.bind),
            ("add", &mut self.add),
            ("modify", &mut self.modify),
            ("rename", &mut self.modify_dn),
            ("delete", &mut self.delete),
            ("search", &mut self.search),
            ("compare", &mut self.compare),
            ("extended", &mut self.extended),
        ]
    }

    fn add(&mut self, word: &str) -> bool {
        let mut members = self.members().into_iter();
        let found = members.find(|(known, _)| *known == word);
        found.map(|(_, member)| *member = true).is_some()
    }

    /// Returns the operations of both sets.
    #[must_use]
    pub fn union(mut self, mut other: Operations) -> Operations {
        for ((_, own), (_, other)) in self.members().into_iter().zip(other.members()) {
            *own |= *other;
        }
        self
    }
}

/// Operations that are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrict {
    /// Operations by kind.
    pub operations: Operations,
    /// Extended operations by object identifier.
    pub extended_oids: Vec<String>,
}

impl Restrict {
    /// Adds one operation: `add`, `read` (search and compare), `write`, `all`, `extended=OID`.
    ///
    /// Returns false if the word names none.
    pub fn add(&mut self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        let set = &mut self.operations;
        match word.as_str() {
            "modrdn" => set.modify_dn = true,
            "read" => (set.search, set.compare) = (true, true),
            "write" => (set.add, set.modify, set.modify_dn, set.delete) = (true, true, true, true),
            "all" => {
                *self = Restrict {
                    operations: Operations::ALL,
                    extended_oids: Vec::new(),
                };
            }
            other => return set.add(other) || self.add_oid(other),
        }
        true
    }

    fn add_oid(&mut self, word: &str) -> bool {
        /// Extended operations that can be restricted one by one.
        const OIDS: [&str; 4] = [
            "1.3.6.1.4.1.1466.20037",
            "1.3.6.1.4.1.4203.1.11.1",
            "1.3.6.1.4.1.4203.1.11.3",
            "1.3.6.1.1.8",
        ];
        let oid = word.strip_prefix("extended=");
        let oid = oid.filter(|oid| OIDS.contains(oid));
        self.extended_oids.extend(oid.map(str::to_owned));
        oid.is_some()
    }

    /// Returns the operations that one database and all databases refuse.
    #[must_use]
    pub fn with(mut self, all: &Restrict) -> Restrict {
        self.operations = self.operations.union(all.operations);
        self.extended_oids.extend_from_slice(&all.extended_oids);
        self
    }

    /// Returns the operations as they are written.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut operations = self.operations;
        let set = operations.members().into_iter().filter(|(_, set)| **set);
        let oids = self.extended_oids.iter();
        set.map(|(word, _)| word.to_owned())
            .chain(oids.map(|oid| format!("extended={oid}")))
            .collect()
    }
}

/// Security strength factors, in bits of the key, that a connection needs; 0 demands nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// Of all layers together.
    pub ssf: u32,
    /// Of the transport below TLS.
    pub transport: u32,
    /// Of TLS.
    pub tls: u32,
    /// Of the SASL layer.
    pub sasl: u32,
    /// Of all layers together, for updates.
    pub update_ssf: u32,
    /// Of the transport, for updates.
    pub update_transport: u32,
    /// Of TLS, for updates.
    pub update_tls: u32,
    /// Of the SASL layer, for updates.
    pub update_sasl: u32,
    /// Of all layers together, for simple binds.
    pub simple_bind: u32,
}

/// The reason why a word is no security strength factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorError {
    /// The word names no factor.
    UnknownFactor,
    /// The value is no number.
    InvalidNumber,
}

impl Security {
    /// Returns the factors with their words, in the order in which they are written.
    pub fn factors(&mut self) -> [(&'static str, &mut u32); 9] {
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

    /// Sets one factor, `tls=128`.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn add(&mut self, word: &str) -> Result<(), FactorError> {
        let (name, number) = word.split_once('=').ok_or(FactorError::UnknownFactor)?;
        let mut factors = self.factors().into_iter();
        let (_, bits) = factors
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .ok_or(FactorError::UnknownFactor)?;
        *bits = number.parse().map_err(|_| FactorError::InvalidNumber)?;
        Ok(())
    }

    /// Returns the factors that demand something, as they are written.
    #[must_use]
    pub fn words(mut self) -> Vec<String> {
        let demanded = self.factors().into_iter().filter(|(_, bits)| **bits > 0);
        demanded
            .map(|(name, bits)| format!("{name}={bits}"))
            .collect()
    }

    /// Returns the factors of one database and of all databases, the greater of each pair.
    #[must_use]
    pub fn with(mut self, mut all: Security) -> Security {
        for ((_, own), (_, general)) in self.factors().into_iter().zip(all.factors()) {
            *own = (*own).max(*general);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_restrict_read_back_in_their_order() {
        let mut restrict = Restrict::default();
        for word in ["modrdn", "Read", "extended=1.3.6.1.1.8"] {
            assert!(restrict.add(word), "{word}");
        }
        let words = ["rename", "search", "compare", "extended=1.3.6.1.1.8"];
        assert_eq!(restrict.words(), words);
        assert!(!restrict.add("extended=1.2.3") && !restrict.add("nothing"));
    }

    #[test]
    fn factors_join_to_the_greater() {
        let mut own = Security::default();
        own.add("TLS=1").unwrap();
        let all = Security {
            tls: 128,
            ..Security::default()
        };
        assert_eq!(own.with(all).words(), ["tls=128"]);
        assert_eq!(own.add("tsl=1"), Err(FactorError::UnknownFactor));
        assert_eq!(own.add("tls=x"), Err(FactorError::InvalidNumber));
    }
}
