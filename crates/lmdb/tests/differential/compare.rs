//! The result of a call, in a form in which two libraries are compared, and the report of a
//! difference.

use std::fmt;

use crate::constants::code_name;

/// One thing that a call gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    /// The caller's struct was left alone.
    Untouched,
    /// A NULL pointer with this size.
    Null(usize),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A number or a flag word.
    Number(usize),
    /// Items of a walk: key and value.
    Items(Vec<(Vec<u8>, Vec<u8>)>),
}

/// The result code of a call and everything it gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The result code.
    pub(crate) code: i32,
    fields: Vec<(&'static str, Field)>,
}

impl Outcome {
    /// A code and nothing else.
    pub(crate) fn of(code: i32) -> Self {
        Self {
            code,
            fields: Vec::new(),
        }
    }

    /// Adds something that the call gave back.
    pub(crate) fn with(mut self, name: &'static str, field: Field) -> Self {
        self.fields.push((name, field));
        self
    }

    /// Adds a number.
    pub(crate) fn number(self, name: &'static str, value: usize) -> Self {
        self.with(name, Field::Number(value))
    }

    /// Adds a number that means something only if the call succeeded.
    pub(crate) fn on_success(self, name: &'static str, value: usize) -> Self {
        if self.code == 0 {
            self.number(name, value)
        } else {
            self
        }
    }

    /// Takes out what is not to be compared.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(n, _)| *n != name);
        self
    }

    /// The bytes of a field, if it has any.
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.fields.iter().find_map(|(n, field)| match field {
            Field::Bytes(bytes) if *n == name => Some(bytes.as_slice()),
            _ => None,
        })
    }

    /// The number of a field, if it has one.
    pub(crate) fn value(&self, name: &str) -> Option<usize> {
        self.fields.iter().find_map(|(n, field)| match field {
            Field::Number(value) if *n == name => Some(*value),
            _ => None,
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", code_name(self.code))?;
        for (name, field) in &self.fields {
            write!(f, " {name}={field}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untouched => write!(f, "-"),
            Self::Null(size) => write!(f, "NULL({size})"),
            Self::Bytes(bytes) => write!(f, "{}", short(bytes)),
            Self::Number(number) => write!(f, "{}", *number as isize),
            Self::Items(items) => write!(f, "{} items", items.len()),
        }
    }
}

/// Bytes for people: text if it is text, else hexadecimal, long ones cut.
pub(crate) fn short(bytes: &[u8]) -> String {
    const SHOWN: usize = 24;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let mut out = if shown.iter().all(|b| b.is_ascii_graphic()) && !shown.is_empty() {
        format!("'{}'", String::from_utf8_lossy(shown))
    } else {
        let hex: String = shown.iter().map(|b| format!("{b:02x}")).collect();
        format!("<{hex}>")
    };
    if bytes.len() > SHOWN {
        out.push_str(&format!("..({})", bytes.len()));
    }
    out
}

/// Two libraries disagree.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    /// The call.
    pub(crate) call: String,
    /// The kind of difference: the function and the two codes. Two differences with one signature
    /// are probably the same.
    pub(crate) signature: String,
    /// The result of the reference.
    pub(crate) reference: String,
    /// The result of the library under test.
    pub(crate) ours: String,
}

impl Difference {
    /// The difference between two outcomes of one call, if there is one. `function` is its name
    /// with operation or flags.
    pub(crate) fn between(
        function: &str,
        arguments: &str,
        reference: &Outcome,
        ours: &Outcome,
    ) -> Option<Self> {
        if reference == ours {
            return None;
        }
        let detail = if reference.code == ours.code {
            let differing: Vec<&str> = reference
                .fields
                .iter()
                .zip(&ours.fields)
                .filter(|(a, b)| a != b)
                .map(|(a, _)| a.0)
                .collect();
            format!(
                "{} with other {}",
                code_name(ours.code),
                differing.join(",")
            )
        } else {
            format!(
                "{} became {}",
                code_name(reference.code),
                code_name(ours.code)
            )
        };
        let (mut left, mut right) = (reference.to_string(), ours.to_string());
        if let Some((a, b)) = first_other_item(reference, ours) {
            left.push_str(&a);
            right.push_str(&b);
        }
        Some(Self {
            call: format!("{function} {arguments}"),
            signature: format!("{function}: {detail}"),
            reference: left,
            ours: right,
        })
    }
}

fn first_other_item(a: &Outcome, b: &Outcome) -> Option<(String, String)> {
    let items = |outcome: &Outcome| {
        outcome.fields.iter().find_map(|(_, field)| match field {
            Field::Items(items) => Some(items.clone()),
            _ => None,
        })
    };
    let (a, b) = (items(a)?, items(b)?);
    let at = (0..a.len().max(b.len())).find(|&i| a.get(i) != b.get(i))?;
    let tell = |items: &[(Vec<u8>, Vec<u8>)]| match items.get(at) {
        Some((key, value)) => format!("; item {at} is {} = {}", short(key), short(value)),
        None => format!("; no item {at}"),
    };
    Some((tell(&a), tell(&b)))
}
