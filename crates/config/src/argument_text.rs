//! Arguments of a directive that are kept as one text: an access rule, a provider of `syncrepl`.

use std::fmt;

use crate::setting::{Setting, Value, text};
use crate::statement::Statement;
use crate::tokens::{quoted, split_tokens};
use crate::value_tokens::{split_value, value_text};

/// Arguments of a directive as one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentText {
    /// The text by the quoting rules of slapd.conf.
    text: String,
    /// The value of `cn=config` that it was read from.
    value: Option<String>,
}

impl ArgumentText {
    /// Reads the arguments of a statement. A value of `cn=config` is kept as it is.
    pub(crate) fn from_statement(statement: &Statement) -> ArgumentText {
        let text = &statement.text;
        if !statement.is_value {
            return text.clone().into();
        }
        let means_the_same = split_tokens(text).is_ok_and(|tokens| tokens == statement.arguments);
        let spelled = statement.arguments.iter().map(|token| quoted(token));
        ArgumentText {
            text: match means_the_same {
                true => text.clone(),
                false => spelled.collect::<Vec<_>>().join(" "),
            },
            value: Some(text.clone()),
        }
    }

    /// Returns the text by the quoting rules of slapd.conf.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the value of `cn=config`; `None` if no value has that meaning.
    pub(crate) fn value(&self) -> Option<String> {
        if self.value.is_some() {
            return self.value.clone();
        }
        match split_tokens(&self.text) {
            Ok(tokens) if tokens == split_value(&self.text) => Some(self.text.clone()),
            Ok(tokens) => value_text(&tokens),
            Err(_) => None,
        }
    }
}

impl From<String> for ArgumentText {
    fn from(text: String) -> Self {
        ArgumentText { text, value: None }
    }
}

impl fmt::Display for ArgumentText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Setting for ArgumentText {
    const KIND: &'static str = "text";

    fn read(value: Value) -> Result<Self, String> {
        text(value).map(Self::from)
    }

    fn show(&self) -> String {
        self.text.clone()
    }

    fn olc(&self) -> Vec<String> {
        vec![self.value().unwrap_or_else(|| self.text.clone())]
    }
}
