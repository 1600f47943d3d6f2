//! The report of a check, as text or as JSON.

use std::io::{self, Write};
use std::path::PathBuf;

use fulgurite::check::{
    Access, CheckOptions, CheckedEnvironment, Finding, PreviousSnapshot, Report, check_environment,
};
use serde_json::{Value, json};

use crate::ToolError;
use crate::progress::PageBar;

/// Options of a check and its report.
#[derive(Debug, Clone, Default)]
pub struct CheckSettings {
    /// Directory of the environment, or its data file.
    pub path: PathBuf,
    /// The engine's options.
    pub options: CheckOptions,
    /// Write one JSON object instead of text.
    pub json: bool,
    /// Write findings only: nothing if there are none.
    pub quiet: bool,
    /// Show a bar if standard error is a terminal.
    pub progress: bool,
}

/// The verdict of a tool that looks for damage. A program's exit status reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong.
    Sound,
    /// There is damage.
    Damaged,
}

/// The result of a check of the records, by the program that has made them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentReport {
    /// The work that was done, as a sentence.
    pub summary: String,
    /// A sentence for each problem.
    pub problems: Vec<String>,
}

/// Checks the pages of an environment.
/// # Errors
/// [`ToolError::Check`] if they could not be checked.
pub fn check_pages(settings: &CheckSettings) -> Result<CheckedEnvironment, ToolError> {
    let bar = PageBar::new(settings.progress);
    let checked = check_environment(&settings.path, &settings.options, &mut |done, pages| {
        bar.update(done, pages);
    })?;
    drop(bar);
    Ok(checked)
}

/// Writes the findings of a check of pages, and those of a check of the records if there was one.
/// # Errors
/// [`ToolError::Output`].
pub fn write_check(
    checked: &CheckedEnvironment,
    content: Option<&ContentReport>,
    settings: &CheckSettings,
    output: &mut dyn Write,
) -> Result<Verdict, ToolError> {
    if settings.json {
        writeln!(output, "{:#}", to_json(checked, content))?;
    } else {
        write_text(checked, content, settings.quiet, output)?;
    }
    let problems = content.map_or(0, |content| content.problems.len());
    Ok(match checked.report.is_sound() && problems == 0 {
        true => Verdict::Sound,
        false => Verdict::Damaged,
    })
}

/// Describes how the snapshot was protected from writers.
pub(crate) fn access_text(access: &Access) -> String {
    match access {
        Access::Pinned => {
            "the snapshot was held by a reader slot; others could go on writing".to_owned()
        }
        Access::NoLockFile => {
            "there is no lock file, so no process has it open; nothing was locked".to_owned()
        }
        Access::Unpinned(reason) => format!(
            "the lock file could not be joined ({reason}); nothing was locked, and no commit overtook the check"
        ),
    }
}

fn write_text(
    checked: &CheckedEnvironment,
    content: Option<&ContentReport>,
    quiet: bool,
    output: &mut dyn Write,
) -> io::Result<()> {
    let report = &checked.report;
    if !quiet {
        write_head(checked, output)?;
    }
    for finding in &report.findings {
        writeln!(output, "{finding}")?;
    }
    let untold = report.findings_total - report.findings.len() as u64;
    if untold > 0 {
        writeln!(output, "and {untold} more")?;
    }
    let problems = content.map_or(&[][..], |content| &content.problems);
    for problem in problems {
        writeln!(output, "{problem}")?;
    }
    if quiet {
        return Ok(());
    }
    for note in &report.notes {
        writeln!(output, "note: {note}")?;
    }
    writeln!(output, "{}", previous_text(&report.previous))?;
    if let Some(content) = content {
        writeln!(output, "{}", content.summary)?;
    }
    match report.findings_total + problems.len() as u64 {
        0 => writeln!(output, "sound"),
        count => writeln!(output, "{count} finding(s)"),
    }
}

fn write_head(checked: &CheckedEnvironment, output: &mut dyn Write) -> io::Result<()> {
    let report = &checked.report;
    writeln!(
        output,
        "{}: transaction {}, {} pages of {} bytes in use, {} of them free, {} in the file",
        checked.data.display(),
        report.txnid,
        report.last_pgno.saturating_add(1),
        report.page_bytes,
        report.free_pages,
        report.file_pages
    )?;
    writeln!(output, "{}", access_text(&checked.access))?;
    writeln!(
        output,
        "{:<24} {:>12} {:>5} {:>9} {:>9} {:>9}",
        "database", "records", "depth", "branch", "leaf", "overflow"
    )?;
    for db in &report.databases {
        writeln!(
            output,
            "{:<24} {:>12} {:>5} {:>9} {:>9} {:>9}",
            db.name, db.entries, db.depth, db.branch_pages, db.leaf_pages, db.overflow_pages
        )?;
    }
    Ok(())
}

fn previous_text(previous: &PreviousSnapshot) -> String {
    match previous {
        PreviousSnapshot::Unchecked => "the other snapshot was not looked at".to_owned(),
        PreviousSnapshot::None => "there is no other snapshot to go back to".to_owned(),
        PreviousSnapshot::Usable { txnid } => {
            format!("the snapshot before, of transaction {txnid}, could be gone back to")
        }
        PreviousSnapshot::Unusable { txnid, first } => {
            format!("the snapshot before, of transaction {txnid}, cannot be gone back to: {first}")
        }
    }
}

fn to_json(checked: &CheckedEnvironment, content: Option<&ContentReport>) -> Value {
    let report = &checked.report;
    let access = match &checked.access {
        Access::Pinned => json!({"pinned": true}),
        Access::NoLockFile => json!({"pinned": false, "reason": "no lock file"}),
        Access::Unpinned(reason) => json!({"pinned": false, "reason": reason}),
    };
    let problems = content.map_or(0, |content| content.problems.len());
    let content =
        content.map(|content| json!({"summary": content.summary, "problems": content.problems}));
    json!({
        "data": checked.data.display().to_string(),
        "access": access,
        "transaction": report.txnid,
        "page_bytes": report.page_bytes,
        "last_page": report.last_pgno,
        "file_pages": report.file_pages,
        "free_pages": report.free_pages,
        "databases": report.databases.iter().map(|db| json!({
            "name": db.name,
            "flags": db.flags,
            "depth": db.depth,
            "records": db.entries,
            "branch_pages": db.branch_pages,
            "leaf_pages": db.leaf_pages,
            "overflow_pages": db.overflow_pages,
        })).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "findings_total": report.findings_total,
        "notes": report.notes,
        "previous": previous_json(report),
        "content": content,
        "sound": report.is_sound() && problems == 0,
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "database": finding.database,
        "page": finding.pgno,
        "fault": finding.fault.to_string(),
    })
}

fn previous_json(report: &Report) -> Value {
    match &report.previous {
        PreviousSnapshot::Unchecked | PreviousSnapshot::None => Value::Null,
        PreviousSnapshot::Usable { txnid } => json!({"transaction": txnid, "usable": true}),
        PreviousSnapshot::Unusable { txnid, first } => {
            json!({"transaction": txnid, "usable": false, "first": finding_json(first)})
        }
    }
}
