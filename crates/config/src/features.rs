//! Sets of features and operations as settings.

use fulgurite_policy::{
    Allow, Disallow, FactorError, FeatureSet, Require, Restrict, Security, word_list,
};

use crate::setting::{Setting, Value, toml_list, words};

fn read_features<T: FeatureSet>(value: Value) -> Result<T, String> {
    let mut features = T::default();
    for word in words(value)? {
        if !features.add(&word) {
            return Err(format!("\"{word}\" is none of {}", word_list(T::WORDS)));
        }
    }
    Ok(features)
}

/// Implements the form of a setting for sets of words. `FeatureSet` belongs to another crate, so
/// one implementation for all of its types is not possible.
macro_rules! sets_of_words {
    ($($set:ty),*) => {
        $(
            impl Setting for $set {
                const KIND: &'static str = "list of words";

                fn read(value: Value) -> Result<Self, String> {
                    read_features(value)
                }

                fn show(&self) -> String {
                    self.words().join(" ")
                }

                fn toml(&self) -> Option<String> {
                    Some(toml_list(&self.words()))
                }

                fn olc(&self) -> Vec<String> {
                    self.words().into_iter().map(str::to_owned).collect()
                }
            }
        )*
    };
}

sets_of_words!(Allow, Disallow, Require);

impl Setting for Security {
    const KIND: &'static str = "list of words";

    fn read(value: Value) -> Result<Self, String> {
        let mut security = Self::default();
        for word in words(value)? {
            security.add(&word).map_err(|error| match error {
                FactorError::UnknownFactor => format!(
                    "\"{word}\" is no factor; write one of {} with a number, as in \"tls=128\"",
                    word_list(&Security::default().factors().map(|(name, _)| name))
                ),
                FactorError::InvalidNumber => format!("\"{word}\" does not give a number"),
            })?;
        }
        Ok(security)
    }

    fn show(&self) -> String {
        self.words().join(" ")
    }

    fn toml(&self) -> Option<String> {
        Some(toml_list(&self.words()))
    }

    fn olc(&self) -> Vec<String> {
        self.words()
    }
}

impl Setting for Restrict {
    const KIND: &'static str = "list of words";

    fn read(value: Value) -> Result<Self, String> {
        let mut restrict = Self::default();
        for word in words(value)? {
            if !restrict.add(&word) {
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

    fn toml(&self) -> Option<String> {
        Some(toml_list(&self.words()))
    }

    fn olc(&self) -> Vec<String> {
        self.words()
    }
}
