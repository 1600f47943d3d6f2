//! Indexes of attributes, as flags, files and slapd.conf write them.

use fulgurite_policy::{IndexKind, IndexSelection, Sourced};

use crate::setting::{Setting, Value};

/// Reads `eq`, `pres`, `sub`, `approx` (or their long names), with commas or spaces between them.
/// `none` means no index.
///
/// `nolang` and `nosubtypes` may be among them, as in slapd.conf.
///
/// # Errors
/// A clause that names the word which is no kind of index.
pub fn parse_kinds(text: &str) -> Result<IndexSelection, String> {
    let mut kinds = IndexSelection::default();
    let mut words = 0;
    for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
        words += 1;
        if !kinds.add(word) && !word.eq_ignore_ascii_case("none") {
            let known = IndexKind::all_words();
            return Err(format!(
                "\"{word}\" is no kind of index; there are {known} and none"
            ));
        }
    }
    if words == 0 {
        let known = IndexKind::all_words();
        return Err(format!(
            "no kind of index is named; there are {known} and none"
        ));
    }
    Ok(kinds)
}

/// The indexes of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSetting {
    /// The attribute type by name or numeric OID, as written.
    pub attribute: String,
    /// The kinds kept for it.
    pub kinds: IndexSelection,
}

impl IndexSetting {
    /// Reads the form of the flag, `ATTRIBUTE:KIND[,KIND]`, for example `mail:eq,sub`.
    ///
    /// # Errors
    /// A clause that names the error.
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
            kinds: parse_kinds(kinds)?,
        })
    }
}

impl Setting for IndexSelection {
    const KIND: &'static str = "list of kinds of index";

    fn read(value: Value) -> Result<Self, String> {
        parse_kinds(&crate::setting::words(value)?.join(","))
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn toml(&self) -> Option<String> {
        (*self != IndexSelection::default()).then(|| format!("\"{self}\""))
    }
}

impl Setting for IndexSetting {
    const KIND: &'static str = "an attribute with kinds of index";

    fn read(value: Value) -> Result<Self, String> {
        Self::parse(&crate::setting::text(value)?)
    }

    fn show(&self) -> String {
        format!("{}:{}", self.attribute, self.kinds)
    }

    fn items(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }
}

/// Returns the lower settings, replaced by upper ones of the same attribute; new ones come last.
pub(crate) fn join(
    upper: Vec<Sourced<IndexSetting>>,
    lower: Vec<Sourced<IndexSetting>>,
) -> Vec<Sourced<IndexSetting>> {
    let mut joined = lower;
    for setting in upper {
        let same = |known: &&mut Sourced<IndexSetting>| {
            known.attribute.eq_ignore_ascii_case(&setting.attribute)
        };
        match joined.iter_mut().find(same) {
            Some(known) => *known = setting,
            None => joined.push(setting),
        }
    }
    joined
}

/// Returns the indexes that a store keeps unless `default_indexes = false`. Directory clients
/// commonly search these attributes.
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
                kinds: parse_kinds(kinds).ok()?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_policy::IndexKinds;

    #[test]
    fn reads_the_flag_form() {
        let setting = IndexSetting::parse("mail:eq,sub").unwrap();
        assert_eq!(setting.attribute, "mail");
        assert_eq!(
            setting.kinds,
            IndexSelection {
                kinds: IndexKinds::of(&[IndexKind::Equality, IndexKind::Substring]),
                ..IndexSelection::default()
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
    fn some_kinds_keep_no_index() {
        assert!(!parse_kinds("approx").unwrap().is_none());
        assert!(parse_kinds("none").unwrap().is_none());
        assert!(parse_kinds("nolang").unwrap().is_none());
    }

    #[test]
    fn the_texts_of_the_setting_name_every_kind() {
        let mut settings = crate::table::settings_info();
        let setting = settings.find(|info| info.key == Some("index"));
        let setting = setting.expect("the setting exists");
        let help = setting.flag.and_then(|flag| flag.help);
        for text in [setting.doc.concat(), help.expect("a help").to_owned()] {
            for word in IndexKind::ALL.map(IndexKind::word) {
                let mut words = text.split(|letter: char| !letter.is_alphanumeric());
                assert!(words.any(|one| one == word), "{word:?} is not in {text:?}");
            }
        }
    }

    #[test]
    fn every_default_reads() {
        assert_eq!(defaults().len(), 13);
    }
}
