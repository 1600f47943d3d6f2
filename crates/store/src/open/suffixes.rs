//! Suffixes as text: checked when a store is created, compared when it is opened.
//!
//! A store without entries takes other suffixes. So a configuration may rename an empty database.

use std::path::Path;

use crate::error::OpenError;
use crate::store::{Description, Store, renew_suffixes};
use fulgurite::Environment;
use fulgurite_schema::{Dn, Schema};

impl Store {
    /// Returns true if these are the suffixes of the store, in whatever order and spelling.
    #[must_use]
    pub fn has_suffixes(&self, texts: &[String]) -> bool {
        let asked = usable_suffixes(&self.schema, texts);
        asked.is_ok_and(|asked| are_same(&asked, &self.suffixes))
    }
}

/// Returns the suffixes of a store, which are those `asked` for if there are some.
pub(super) fn stored_suffixes(
    (path, env): (&Path, &Environment),
    schema: &Schema,
    stored: &Description,
    (asked, read_only): (&[String], bool),
) -> Result<Vec<Dn>, OpenError> {
    let suffixes = usable_suffixes(schema, &stored.suffixes)?;
    if !asked.is_empty() {
        let asked = usable_suffixes(schema, asked)?;
        if !are_same(&asked, &suffixes) {
            let renewed = match read_only {
                true => Ok(false),
                false => renew_suffixes(env, &asked),
            };
            let renewed = renewed.map_err(|source| OpenError::Read {
                path: path.into(),
                source,
            })?;
            if renewed {
                return Ok(asked);
            }
            let list = |dns: &[Dn]| {
                dns.iter()
                    .map(|dn| format!("{:?}", dn.pretty()))
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            return Err(OpenError::Suffixes {
                path: path.into(),
                stored: list(&suffixes),
                asked: list(&asked),
            });
        }
    }
    Ok(suffixes)
}

fn are_same(some: &[Dn], others: &[Dn]) -> bool {
    some.len() == others.len() && some.iter().all(|dn| others.contains(dn))
}

pub(super) fn usable_suffixes(schema: &Schema, texts: &[String]) -> Result<Vec<Dn>, OpenError> {
    let mut suffixes: Vec<Dn> = Vec::new();
    for text in texts {
        let unusable = || OpenError::UnusableSuffix(text.clone());
        let dn = Dn::parse(schema, text).map_err(|_| unusable())?;
        if suffixes
            .iter()
            .any(|other| dn.is_within(other) || other.is_within(&dn))
        {
            return Err(unusable());
        }
        suffixes.push(dn);
    }
    if suffixes.is_empty() {
        Err(OpenError::UnusableSuffix(String::new()))
    } else {
        Ok(suffixes)
    }
}
