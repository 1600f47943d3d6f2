//! Suffixes as text: checked when a store is created, compared when it is opened.

use std::path::Path;

use crate::error::OpenError;
use crate::store::Description;
use fulgurite_schema::{Dn, Schema};

pub(super) fn stored_suffixes(
    path: &Path,
    schema: &Schema,
    stored: &Description,
    asked: &[String],
) -> Result<Vec<Dn>, OpenError> {
    let suffixes = usable_suffixes(schema, &stored.suffixes)?;
    if !asked.is_empty() {
        let asked = usable_suffixes(schema, asked)?;
        if asked.len() != suffixes.len() || !asked.iter().all(|dn| suffixes.contains(dn)) {
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
