//! The directive `syncrepl`: its words as settings, both ways.
//!
//! ```text
//!   rid=1 provider=ldap://h ...  --parse-->  Syncrepl  --write-->  slapd's order and quotes
//! ```

mod parse;
mod retry;
mod write;

use fulgurite_policy::Syncrepl;

use crate::argument_text::ArgumentText;
use crate::setting::{Setting, Value, text};
use crate::statement::Statement;
use crate::tokens::split_tokens;
use crate::value_tokens::split_value;

/// One provider of a database, as written and as settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncreplSetting {
    /// The settings.
    pub settings: Syncrepl,
    text: ArgumentText,
}

impl SyncreplSetting {
    /// Reads the arguments of a statement.
    pub(crate) fn read_statement(statement: &Statement) -> Result<SyncreplSetting, String> {
        Ok(SyncreplSetting {
            settings: parse::parse(&statement.arguments)?,
            text: ArgumentText::from_statement(statement),
        })
    }

    /// Returns the value of `cn=config`: slapd's own, or the text if that would not read back.
    /// `None` if no value has that meaning.
    pub(crate) fn value(&self) -> Option<String> {
        let written = write::write(&self.settings);
        let reads_back = parse::parse(&split_value(&written)).as_ref() == Ok(&self.settings);
        match reads_back {
            true => Some(written),
            false => self.text.value(),
        }
    }
}

impl Setting for SyncreplSetting {
    const KIND: &'static str = "text";

    fn read(value: Value) -> Result<Self, String> {
        let text = text(value)?;
        Ok(SyncreplSetting {
            settings: parse::parse(&split_tokens(&text)?)?,
            text: text.into(),
        })
    }

    fn show(&self) -> String {
        self.text.as_str().to_owned()
    }

    fn olc(&self) -> Vec<String> {
        vec![self.value().unwrap_or_else(|| self.show())]
    }
}

#[cfg(test)]
mod tests;
