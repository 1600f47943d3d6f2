//! The form of the lines: text, or one JSON object a line. It may change at any time.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite_config::LogFormat;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::channel::OPERATION;
use super::fields::{FieldValue, fields};

/// True if lines are JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Sets the form of further lines.
pub(super) fn set(format: LogFormat) {
    IS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// Formats events in the form that is set.
pub(super) struct Lines(Format<Full, SystemTime>);

impl Lines {
    pub(super) fn new() -> Lines {
        Lines(tracing_subscriber::fmt::format().with_target(false))
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if !IS_JSON.load(Ordering::Relaxed) {
            return self.0.format_event(context, writer, event);
        }
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let mut message = Message::default();
        event.record(&mut message);
        let is_operation = event.metadata().target() == OPERATION;
        let level = event.metadata().level().as_str();
        writeln!(writer, "{}", object(&time, level, &message.0, is_operation))
    }
}

/// Returns the object of a line.
fn object(time: &str, level: &str, message: &str, is_operation: bool) -> String {
    let mut out = format!("{{\"time\":{},\"level\":{}", json(time), json(level));
    if is_operation {
        out.push_str(",\"type\":\"operation\"");
        for (name, value) in fields(message) {
            let value = match value {
                FieldValue::Number(number) => number,
                FieldValue::Text(text) => json(&text),
            };
            let _ = write!(out, ",{}:{value}", json(&name));
        }
    } else {
        out.push_str(",\"type\":\"event\"");
    }
    let _ = write!(out, ",\"message\":{}}}", json(message));
    out
}

/// Returns a text as a string of JSON.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The text of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // A string never refuses to be written.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_object() {
        let line = object("2026-11-26T10:00:00Z", "WARN", "a \"quoted\"\nline", false);
        assert_eq!(
            line,
            r#"{"time":"2026-11-26T10:00:00Z","level":"WARN","type":"event","message":"a \"quoted\"\nline"}"#
        );
        let operation =
            r#"conn=1 op=2 SRCH base="dc=\"x" scope=2 RESULT tag=101 err=0 nentries=1 text="""#;
        let line = object("t", "INFO", operation, true);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&read["conn"], &read["err"]), (&1.into(), &0.into()));
        assert_eq!(read["request"], "SRCH");
        assert_eq!(read["end"], "RESULT");
        assert_eq!(read["base"], "dc=\"x");
        assert_eq!(read["message"], operation);
    }
}
