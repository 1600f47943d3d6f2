//! Errors as refusals of an operation, with the texts that clients of slapd get.

use fulgurite_config::{ConfigChangeError, ConfigError, Origin, Settings};
use fulgurite_directory::TreeRefusal;
use fulgurite_schema::SchemaError;

use crate::compose::check::CheckError;
use crate::compose::open::OpenError;

pub(super) fn unwilling(text: impl Into<String>) -> TreeRefusal {
    TreeRefusal::Unwilling(text.into())
}

pub(super) fn refusal(error: ConfigChangeError) -> TreeRefusal {
    match error {
        ConfigChangeError::Missing(_) => TreeRefusal::Missing,
        ConfigChangeError::Exists(_) => TreeRefusal::Exists,
        ConfigChangeError::Number(_) => TreeRefusal::Number,
        ConfigChangeError::Config(error) => config_refusal(error),
        ConfigChangeError::FixedNumber(_) => TreeRefusal::Naming(error.to_string()),
        ConfigChangeError::Defined(_)
        | ConfigChangeError::Backend
        | ConfigChangeError::Modules(_)
        | ConfigChangeError::SecondMonitor
        | ConfigChangeError::NoCopy(_) => TreeRefusal::Failed(error.to_string()),
        error => unwilling(error.to_string()),
    }
}

pub(super) fn config_refusal(error: ConfigError) -> TreeRefusal {
    tracing::info!("a change of the configuration is refused: {error}");
    let text = match error {
        ConfigError::Directive { message, .. }
        | ConfigError::Meaning { message, .. }
        | ConfigError::Value { message, .. } => client_text(message),
        error => error.to_string(),
    };
    TreeRefusal::Failed(text)
}

fn schema_refusal(error: SchemaError, settings: &Settings) -> TreeRefusal {
    tracing::info!("a change of the configuration is refused: {error}");
    let text = match error {
        SchemaError::Definition {
            reason,
            origin,
            line,
        } => match attribute_at(settings, &origin, line) {
            Some(attribute) => {
                // The reason names the directive first.
                let words = reason.split_once(": ");
                let words = words.filter(|(directive, _)| !directive.contains(' '));
                let reason = words.map_or(reason.as_str(), |(_, rest)| rest);
                // The place of the other definition is in the log.
                let reason = reason.split(" is '").next().unwrap_or(reason);
                format!("{attribute}: {reason}")
            }
            None => reason,
        },
        error => error.to_string(),
    };
    TreeRefusal::Failed(text)
}

/// Returns the attribute of the definition at a line of a file.
fn attribute_at(settings: &Settings, file: &str, at: usize) -> Option<&'static str> {
    let mut parts = settings.global.schema.iter();
    let part = parts.find(|part| match &part.origin {
        Origin::File { path, line, .. } => *line == at && path.display().to_string() == file,
        _ => false,
    });
    part?.value.attribute()
}

pub(in crate::compose) fn check_refusal(error: CheckError, settings: &Settings) -> TreeRefusal {
    match error {
        CheckError::Config(error) => config_refusal(error),
        CheckError::Schema(error) => schema_refusal(error, settings),
    }
}

pub(in crate::compose) fn open_refusal(error: OpenError, settings: &Settings) -> TreeRefusal {
    match error {
        OpenError::Config(error) => config_refusal(error),
        OpenError::Schema(error) => schema_refusal(error, settings),
        OpenError::Check(error) => check_refusal(error, settings),
        // Stored entries use a definition that would go.
        OpenError::Store(error @ fulgurite_store::OpenError::SchemaLacks { .. }) => {
            unwilling(error.to_string())
        }
        error => TreeRefusal::Failed(error.to_string()),
    }
}

/// Returns a message as slapd's clients get it: without the word that it is about, which is in the
/// log.
fn client_text(message: String) -> String {
    if let Some((_, reason)) = message
        .strip_prefix("invalid path ")
        .and_then(|rest| rest.split_once(": "))
    {
        let reason = reason.split(" (os error").next().unwrap_or(reason);
        return format!("olcDbDirectory: value #0: invalid path: {reason}");
    }
    if !message.starts_with("<olc") {
        return message.trim_end_matches('.').to_owned();
    }
    const ENDS: [&str; 5] = [
        "unknown factor",
        "unknown operation",
        "unknown level",
        "illegal server ID",
        "failed init",
    ];
    let end = ENDS
        .iter()
        .find_map(|end| Some(message.find(end)? + end.len()));
    let end = end.or_else(|| message.find(" \""));
    let text = end.and_then(|end| message.get(..end));
    text.unwrap_or(&message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_the_texts_of_slapd() {
        for (message, expected) in [
            (
                "<olcLogLevel> unknown level \"x\"",
                "<olcLogLevel> unknown level",
            ),
            (
                "<olcSecurity> unknown factor x=1",
                "<olcSecurity> unknown factor",
            ),
            (
                "<olcRequires> unknown feature #0 \"x\"",
                "<olcRequires> unknown feature #0",
            ),
            (
                "<olcRootPW> can only be set when rootdn is under suffix",
                "<olcRootPW> can only be set when rootdn is under suffix",
            ),
            ("index type \"x\" undefined", "index type \"x\" undefined"),
            (
                "invalid path /x: No such file or directory (os error 2)",
                "olcDbDirectory: value #0: invalid path: No such file or directory",
            ),
        ] {
            assert_eq!(client_text(message.to_owned()), expected);
        }
    }
}
