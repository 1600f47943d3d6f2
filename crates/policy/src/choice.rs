//! Settings whose value is one word out of a few.

/// A type whose values are words.
pub trait Choice: Copy + 'static {
    /// Every value with its words; the first word of a value is the one that is written.
    const WORDS: &'static [(Self, &'static [&'static str])];

    /// Returns the value of a word, in the case of letters in which it is declared.
    ///
    /// # Errors
    /// A clause that lists the words.
    fn from_word(word: &str) -> Result<Self, String> {
        let found = Self::WORDS.iter().find(|(_, words)| words.contains(&word));
        found.map(|(value, _)| *value).ok_or_else(|| {
            let first = |(_, words): &(Self, &'static [&'static str])| words.first().copied();
            let words: Vec<&str> = Self::WORDS.iter().filter_map(first).collect();
            format!("\"{word}\" is none of {}", word_list(&words))
        })
    }
}

/// Returns `a, b and c`.
#[must_use]
pub fn word_list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Declares an enumeration with its words: `Variant = "word" | "other word"`.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident {
        $( $(#[$variant_doc:meta])* $variant:ident = $first:literal $(| $other:literal)*, )*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $( $(#[$variant_doc])* $variant, )* }

        impl $name {
            /// Returns the value of a word.
            ///
            /// # Errors
            /// A clause that lists the words.
            pub fn parse(word: &str) -> Result<Self, String> {
                <Self as $crate::Choice>::from_word(word)
            }

            /// Returns the word that is written for the value.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $first, )* }
            }
        }

        impl $crate::Choice for $name {
            const WORDS: &'static [(Self, &'static [&'static str])] =
                &[$( (Self::$variant, &[$first $(, $other)*]), )*];
        }
    };
}
pub(crate) use choice;

choice! {
    /// The definitions that a schema has before any schema file is read.
    BuiltinSchema {
        /// core, cosine, inetorgperson, and nis or rfc2307bis.
        #[default]
        Standard = "standard",
        /// Only the definitions that the server itself needs; the others come from files.
        System = "system",
    }
}

choice! {
    /// The entries that may permit one identity to act as another (`authzTo`, `authzFrom`).
    AuthzPolicy {
        /// No identity may act as another.
        #[default]
        None = "none",
        /// `authzFrom` of the entry that is acted for.
        From = "from",
        /// `authzTo` of the entry that acts.
        To = "to",
        /// Either of the two.
        Any = "any" | "both",
        /// Both of them.
        All = "all",
    }
}

choice! {
    /// The state of password policies that other servers learn of when binds change it.
    ReplicatedState {
        /// A lock after too many failures.
        #[default]
        Lock = "lock",
        /// Failures, locks, grace logins and times, as in slapd.
        All = "all",
        /// Nothing. Each server counts its own binds.
        None = "none",
    }
}

choice! {
    /// The kind of a database.
    DatabaseKind {
        /// Entries in a store.
        #[default]
        Mdb = "mdb",
        /// The server's statistics, `cn=Monitor`.
        Monitor = "monitor",
        /// The configuration as entries, `cn=config`.
        Config = "config",
    }
}

choice! {
    /// How a database below another one is presented.
    Subordinate {
        /// The database is a naming context.
        #[default]
        No = "no" | "false" | "off",
        /// Searches of the superior database continue in it; the root DSE does not name it.
        Glued = "yes" | "true" | "on",
        /// As `Glued`, and the root DSE names it.
        Advertised = "advertise",
    }
}

choice! {
    /// The state that a commit has reached when the store acknowledges it.
    Durability {
        /// Data and meta page are on disk: a power loss loses nothing.
        #[default]
        Full = "full",
        /// The meta page may be in memory: a power loss may lose the last transaction and no other.
        NoMetaSync = "no-meta-sync",
        /// Nothing is flushed: a power loss may destroy the file. A crash of the process loses
        /// nothing.
        NoSync = "no-sync",
    }
}

choice! {
    /// The least important messages that the server logs.
    LogLevel {
        /// Failures that an administrator must repair.
        Error = "error",
        /// Conditions that may become failures.
        Warn = "warn",
        /// Start, stop and the actions of administrators.
        #[default]
        Info = "info",
        /// Details for finding a fault.
        Debug = "debug",
        /// All details.
        Trace = "trace",
    }
}

choice! {
    /// The form of the logs of the overlay `auditlog`.
    AuditFormat {
        /// LDIF with comments, as slapd writes it.
        #[default]
        Ldif = "ldif",
        /// One JSON object for each change, each on a line.
        Json = "json",
    }
}

choice! {
    /// The state that reads at a node of a cluster see, unless their controls say otherwise.
    ClusterReads {
        /// The state of the node, which may be behind.
        #[default]
        Local = "local",
        /// All that any node has acknowledged before the read.
        Linearizable = "linearizable",
    }
}

choice! {
    /// The form of the lines of the log.
    LogFormat {
        /// Time, level and text.
        #[default]
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_as_its_value_and_the_first_is_written() {
        for (value, words) in AuthzPolicy::WORDS {
            assert_eq!(value.as_str(), words[0]);
            for word in *words {
                assert_eq!(AuthzPolicy::parse(word), Ok(*value));
            }
        }
        assert_eq!(
            AuthzPolicy::parse("some").unwrap_err(),
            "\"some\" is none of none, from, to, any and all"
        );
    }
}
