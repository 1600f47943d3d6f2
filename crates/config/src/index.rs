//! Which indexes an attribute has, as flags, files and slapd.conf readers write it.

use std::fmt;

/// Kinds of index kept for one attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexKinds {
    /// Answers `(a=v)`, and, where the attribute's rule has an ordering, `(a>=v)` and `(a<=v)`.
    pub equality: bool,
    /// Answers `(a=*)`.
    pub presence: bool,
    /// Answers `(a=*part*)`.
    pub substring: bool,
}

impl IndexKinds {
    /// Reads `eq`, `pres`, `sub`, `approx` (or their long names), separated by commas or spaces; `none` for none.
    ///
    /// `approx` keeps the equality index: approximate match is answered as equality.
    ///
    /// # Errors
    /// A clause that names the word which is no kind of index.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut kinds = Self::default();
        let mut words = 0;
        for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            words += 1;
            match word.to_ascii_lowercase().as_str() {
                "eq" | "equality" | "approx" => kinds.equality = true,
                "pres" | "presence" => kinds.presence = true,
                "sub" | "substr" | "substring" => kinds.substring = true,
                "none" => {}
                _ => {
                    return Err(format!(
                        "\"{word}\" is no kind of index; there are eq, pres, sub, approx and none"
                    ));
                }
            }
        }
        if words == 0 {
            return Err(
                "no kind of index is named; there are eq, pres, sub, approx and none".to_owned(),
            );
        }
        Ok(kinds)
    }

    /// Whether no index is kept at all.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for IndexKinds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (self.equality, "eq"),
            (self.presence, "pres"),
            (self.substring, "sub"),
        ];
        let kept: Vec<&str> = words
            .iter()
            .filter(|(kept, _)| *kept)
            .map(|(_, word)| *word)
            .collect();
        out.write_str(
            if kept.is_empty() {
                "none".to_owned()
            } else {
                kept.join(",")
            }
            .as_str(),
        )
    }
}

/// The indexes of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSetting {
    /// The attribute type by name or numeric OID, as written.
    pub attribute: String,
    /// The kinds kept for it.
    pub kinds: IndexKinds,
}

impl IndexSetting {
    /// Reads the form of the flag, `ATTRIBUTE:KIND[,KIND]`, for example `mail:eq,sub`.
    ///
    /// # Errors
    /// A clause that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (attribute, kinds) = text.split_once(':').ok_or_else(|| {
            format!("\"{text}\" does not have the form ATTRIBUTE:KIND[,KIND], as in mail:eq,sub")
        })?;
        let attribute = attribute.trim();
        if attribute.is_empty() {
            return Err(format!("\"{text}\" names no attribute before the colon"));
        }
        Ok(Self {
            attribute: attribute.to_owned(),
            kinds: IndexKinds::parse(kinds)?,
        })
    }
}

/// Indexes kept unless `default_indexes = false`: what directory clients ask for by habit.
pub(crate) fn defaults() -> Vec<IndexSetting> {
    const DEFAULTS: [(&str, &str); 13] = [
        ("objectClass", "eq"),
        ("uid", "eq,pres,sub"),
        ("mail", "eq,pres,sub"),
        ("cn", "eq,sub"),
        ("sn", "eq,sub"),
        ("givenName", "eq,sub"),
        ("member", "eq,pres"),
        ("uniqueMember", "eq,pres"),
        ("memberUid", "eq,pres"),
        ("uidNumber", "eq,pres"),
        ("gidNumber", "eq,pres"),
        ("entryUUID", "eq"),
        ("entryCSN", "eq"),
    ];
    DEFAULTS
        .iter()
        .filter_map(|(attribute, kinds)| {
            Some(IndexSetting {
                attribute: (*attribute).to_owned(),
                kinds: IndexKinds::parse(kinds).ok()?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_flag_form() {
        let setting = IndexSetting::parse("mail:eq,sub").unwrap();
        assert_eq!(setting.attribute, "mail");
        assert_eq!(
            setting.kinds,
            IndexKinds {
                equality: true,
                presence: false,
                substring: true
            }
        );
        assert_eq!(setting.kinds.to_string(), "eq,sub");
        assert!(
            IndexSetting::parse("mail")
                .unwrap_err()
                .contains("ATTRIBUTE:KIND")
        );
        assert!(IndexSetting::parse(":eq").is_err());
        assert!(IndexSetting::parse("mail:").is_err());
        assert!(
            IndexSetting::parse("mail:eq,fast")
                .unwrap_err()
                .contains("\"fast\"")
        );
    }

    #[test]
    fn approx_is_answered_by_equality() {
        assert_eq!(IndexKinds::parse("approx"), IndexKinds::parse("eq"));
        assert!(IndexKinds::parse("none").unwrap().is_none());
    }

    #[test]
    fn every_default_reads() {
        assert_eq!(defaults().len(), 13);
    }
}
