//! The files that add attributes to the root DSE.

use crate::table::Global;
use crate::{ConfigError, NamedValues};

impl Global {
    /// Returns the attributes that the files of `root_dse` add to the root DSE.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Directive`] for a file that is no LDIF of an
    /// entry without a name.
    pub fn root_dse_attributes(&self) -> Result<Vec<NamedValues>, ConfigError> {
        let mut attributes: Vec<NamedValues> = Vec::new();
        for file in &self.root_dse {
            let octets = std::fs::read(&file.value).map_err(|cause| ConfigError::Unreadable {
                what: "root DSE file",
                path: file.value.clone(),
                cause,
            })?;
            let wrong = |line: u64, message: String| {
                let path = file.value.clone();
                let line = usize::try_from(line).unwrap_or(usize::MAX);
                ConfigError::Directive {
                    path,
                    line,
                    message,
                }
            };
            let mut ldif = fulgurite_ldif::Reader::new(octets.as_slice());
            while let Some(record) = ldif
                .next_record()
                .map_err(|error| wrong(error.line, error.kind.to_string()))?
            {
                let fulgurite_ldif::Action::Content(values) = record.action() else {
                    return Err(wrong(
                        record.line(),
                        "this is a change, not an entry".to_owned(),
                    ));
                };
                if !record.dn().is_empty() {
                    let message =
                        format!("the root DSE has no name, this entry has: {}", record.dn());
                    return Err(wrong(record.line(), message));
                }
                for value in values {
                    let same =
                        |(name, _): &&mut (String, _)| name.eq_ignore_ascii_case(value.description);
                    match attributes.iter_mut().find(same) {
                        Some((_, values)) => values.push(value.value.to_vec()),
                        None => attributes
                            .push((value.description.to_owned(), vec![value.value.to_vec()])),
                    }
                }
            }
        }
        Ok(attributes)
    }
}
