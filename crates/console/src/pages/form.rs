//! Forms: the one shape of all that send fields to the server.

use maud::{Markup, html};

use super::layout::token;
use crate::sessions::UserSession;

/// A form on a card: title, fields and a button.
pub(crate) struct PostForm<'a> {
    /// The address that takes the form.
    pub(crate) action: &'a str,
    /// The title; empty if that of the page is enough.
    pub(crate) title: &'a str,
    pub(crate) fields: &'a [Field<'a>],
    /// The value of the field `do`, which names the form among those of a page; empty for the
    /// only one.
    pub(crate) act: &'a str,
    /// The text of the button.
    pub(crate) button: &'a str,
}

impl PostForm<'_> {
    /// Returns the form.
    pub(crate) fn html(&self, session: &UserSession) -> Markup {
        html! {
            form.card method="post" action=(self.action) {
                @if !self.title.is_empty() { h2 { (self.title) } }
                (token(session))
                @if !self.act.is_empty() { input type="hidden" name="do" value=(self.act); }
                @for field in self.fields { (field.html()) }
                button type="submit" { (self.button) }
            }
        }
    }
}

/// A field of a form.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) value: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) is_required: bool,
    pub(crate) complete: &'a str,
}

impl<'a> Field<'a> {
    /// Returns a field of one line of text.
    pub(crate) fn text(name: &'a str, label: &'a str, value: &'a str) -> Field<'a> {
        Field {
            name,
            label,
            value,
            kind: "text",
            is_required: false,
            complete: "off",
        }
    }

    /// Returns a field of a password.
    pub(crate) fn password(name: &'a str, label: &'a str, complete: &'a str) -> Field<'a> {
        Field {
            kind: "password",
            is_required: true,
            complete,
            ..Field::text(name, label, "")
        }
    }

    /// Demands a value.
    pub(crate) fn required(self) -> Field<'a> {
        Field {
            is_required: true,
            ..self
        }
    }

    /// Returns the field with its label.
    pub(crate) fn html(&self) -> Markup {
        html! {
            label for=(self.name) { (self.label) @if self.is_required { span.must { " (required)" } } }
            input id=(self.name) name=(self.name) type=(self.kind) value=(self.value)
                required[self.is_required] autocomplete=(self.complete) spellcheck="false";
        }
    }
}
