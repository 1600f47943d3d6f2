//! Findings of the doctor, as text and as JSON.

use std::fmt::Write as _;

use crate::json_text::escaped;

/// The weight of a finding, the lightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Ok,
    /// Worth knowing; nobody needs to act.
    Note,
    Warning,
    Failure,
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Note => "note",
            Severity::Warning => "warn",
            Severity::Failure => "fail",
        }
    }
}

/// A result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    check: &'static str,
    severity: Severity,
    text: String,
    /// The advice; empty if there is none.
    remedy: String,
}

/// The results of all checks.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a good result.
    pub(super) fn ok(&mut self, check: &'static str, text: impl Into<String>) {
        self.add(check, Severity::Ok, text, "");
    }

    /// Adds a result with advice.
    pub(super) fn add(
        &mut self,
        check: &'static str,
        severity: Severity,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.0.push(Finding {
            check,
            severity,
            text: text.into(),
            remedy: remedy.into(),
        });
    }

    /// Returns the weight of the worst result.
    pub(super) fn worst(&self) -> Severity {
        let severities = self.0.iter().map(|finding| finding.severity);
        severities.max().unwrap_or(Severity::Ok)
    }

    /// Returns one line for each result, and one for its advice.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for finding in &self.0 {
            let word = finding.severity.word();
            let _ = writeln!(out, "{word:<5} {}: {}", finding.check, finding.text);
            if !finding.remedy.is_empty() {
                let _ = writeln!(out, "      {}", finding.remedy);
            }
        }
        let count = |severity| self.0.iter().filter(|one| one.severity == severity).count();
        let (failures, warnings) = (count(Severity::Failure), count(Severity::Warning));
        let _ = match failures + warnings {
            0 => writeln!(out, "all is well"),
            _ => writeln!(out, "{failures} failures, {warnings} warnings"),
        };
        out
    }

    /// Returns one object of JSON.
    pub(super) fn json(&self) -> String {
        let findings = self.0.iter().map(|finding| {
            format!(
                "{{\"check\":\"{}\",\"severity\":\"{}\",\"text\":\"{}\",\"remedy\":\"{}\"}}",
                finding.check,
                finding.severity.word(),
                escaped(&finding.text),
                escaped(&finding.remedy)
            )
        });
        let findings: Vec<String> = findings.collect();
        let worst = self.worst().word();
        format!(
            "{{\"worst\":\"{worst}\",\"findings\":[{}]}}\n",
            findings.join(",")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_lines_or_json() {
        let mut findings = Findings::default();
        assert_eq!(findings.text(), "all is well\n");
        findings.ok("clock", "2026");
        assert_eq!(findings.worst(), Severity::Ok);
        findings.add("room", Severity::Warning, "80 % \"full\"", "make room");
        findings.add("keys", Severity::Note, "none", "");
        assert_eq!(
            findings.text(),
            "ok    clock: 2026\nwarn  room: 80 % \"full\"\n      make room\nnote  keys: none\n\
             0 failures, 1 warnings\n"
        );
        assert_eq!(findings.worst(), Severity::Warning);
        assert_eq!(
            findings.json(),
            "{\"worst\":\"warn\",\"findings\":[{\"check\":\"clock\",\"severity\":\"ok\",\"text\":\
             \"2026\",\"remedy\":\"\"},{\"check\":\"room\",\"severity\":\"warn\",\"text\":\"80 % \
             \\\"full\\\"\",\"remedy\":\"make room\"},{\"check\":\"keys\",\"severity\":\"note\",\
             \"text\":\"none\",\"remedy\":\"\"}]}\n"
        );
    }
}
