//! The report of a salvage, as text or as JSON.

use std::io::{self, Write};
use std::path::Path;

use fulgurite::check::check_environment;
use fulgurite::salvage::{Basis, SalvageReport, salvage};
use serde_json::{Value, json};

use crate::ToolError;
use crate::check::{CheckSettings, Verdict, access_text};
use crate::progress::PageBar;

/// Holes listed in the text; more are only counted.
const HOLES_SHOWN: usize = 1000;

/// Salvages an environment into a new one in the directory `output_path`, checks that, and writes
/// the report.
///
/// The verdict is about the old environment: sound if all of it was saved.
/// # Errors
/// [`ToolError::Salvage`] if nothing could be done, [`ToolError::Unsound`] if the result fails its
/// check, [`ToolError::Output`].
pub fn repair(
    settings: &CheckSettings,
    output_path: &Path,
    output: &mut dyn Write,
) -> Result<Verdict, ToolError> {
    make_directory(output_path)?;
    let bar = PageBar::new(settings.progress);
    let mut progress = |done, pages| bar.update(done, pages);
    let report = salvage(
        &settings.path,
        output_path,
        &settings.options,
        &mut progress,
    )?;
    let result = check_environment(output_path, &settings.options, &mut |_, _| ())?;
    drop(bar);
    if settings.json {
        writeln!(output, "{:#}", to_json(&report))?;
    } else {
        write_text(&report, settings, output)?;
    }
    if !result.report.is_sound() {
        return Err(ToolError::Unsound(output_path.to_owned()));
    }
    Ok(match report.is_complete() {
        true => Verdict::Sound,
        false => Verdict::Damaged,
    })
}

/// Makes the directory of the new environment. An existing one must be empty.
fn make_directory(path: &Path) -> Result<(), ToolError> {
    let fail = |source| ToolError::Directory {
        path: path.to_owned(),
        source,
    };
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
            match std::fs::read_dir(path).map_err(fail)?.next() {
                None => Ok(()),
                Some(_) => Err(ToolError::NotEmpty(path.to_owned())),
            }
        }
        result => result.map_err(fail),
    }
}

fn basis_text(report: &SalvageReport) -> String {
    let txnid = report.txnid.unwrap_or_default();
    match report.basis {
        Basis::Newest => format!("the newest snapshot, of transaction {txnid}"),
        Basis::OnlyOne => {
            format!("the only snapshot with a readable meta page, of transaction {txnid}; a newer one may be lost")
        }
        Basis::Mended => format!("a meta page whose mark is damaged, of transaction {txnid}"),
        Basis::Scan => "no snapshot: both meta pages are gone, so nothing tells which records belong to which database"
            .to_owned(),
    }
}

fn write_text(
    report: &SalvageReport,
    settings: &CheckSettings,
    output: &mut dyn Write,
) -> io::Result<()> {
    if !settings.quiet {
        writeln!(output, "salvaged from {}", basis_text(report))?;
        writeln!(output, "{}", access_text(&report.access))?;
        write_databases(report, output)?;
    }
    for hole in report.holes.iter().take(HOLES_SHOWN) {
        writeln!(output, "missing or replaced: {hole}")?;
    }
    let untold = report.holes_total.saturating_sub(HOLES_SHOWN as u64);
    if untold > 0 {
        writeln!(output, "and {untold} more")?;
    }
    for note in &report.notes {
        writeln!(output, "note: {note}")?;
    }
    if let Some(path) = &report.lost_file {
        writeln!(
            output,
            "{} record(s) of {} page(s) that belong nowhere, and {} that no database can take: {}",
            report.lost_records,
            report.lost_pages,
            report.refused,
            path.display()
        )?;
    }
    if settings.quiet {
        return Ok(());
    }
    match report.is_complete() {
        true => writeln!(
            output,
            "all of it is in {}, which is sound",
            report.output.display()
        ),
        false => writeln!(
            output,
            "{} damaged page(s); what could be saved is in {}, which is sound",
            report.pages_lost,
            report.output.display()
        ),
    }
}

fn write_databases(report: &SalvageReport, output: &mut dyn Write) -> io::Result<()> {
    writeln!(
        output,
        "{:<24} {:>12} {:>12} {:>12} {:>12}",
        "database", "salvaged", "of", "orphaned", "older"
    )?;
    for db in &report.databases {
        let name = match &db.name {
            Some(name) => String::from_utf8_lossy(name),
            None => "main".into(),
        };
        writeln!(
            output,
            "{name:<24} {:>12} {:>12} {:>12} {:>12}",
            db.salvaged(),
            db.expected,
            db.orphans,
            db.previous
        )?;
    }
    Ok(())
}

fn to_json(report: &SalvageReport) -> Value {
    json!({
        "basis": match report.basis {
            Basis::Newest => "newest",
            Basis::OnlyOne => "only one",
            Basis::Mended => "mended",
            Basis::Scan => "scan",
        },
        "transaction": report.txnid,
        "output": report.output.display().to_string(),
        "databases": report.databases.iter().map(|db| json!({
            "name": db.name.as_deref().map(String::from_utf8_lossy),
            "flags": db.flags,
            "expected": db.expected,
            "newest": db.newest,
            "orphans": db.orphans,
            "previous": db.previous,
        })).collect::<Vec<_>>(),
        "holes": report.holes.iter().map(|hole| json!({
            "database": hole.database.as_deref().map(String::from_utf8_lossy),
            "key": hole.key.as_deref().map(hex::encode),
            "low": hole.low.as_deref().map(hex::encode),
            "high": hole.high.as_deref().map(hex::encode),
            "page": hole.page,
            "reason": hole.reason,
            "kept": hole.kept,
            "from_orphans": hole.from_orphans,
            "from_previous": hole.from_previous,
        })).collect::<Vec<_>>(),
        "holes_total": report.holes_total,
        "pages_lost": report.pages_lost,
        "refused": report.refused,
        "lost_pages": report.lost_pages,
        "lost_records": report.lost_records,
        "lost_file": report.lost_file.as_ref().map(|path| path.display().to_string()),
        "notes": report.notes,
        "complete": report.is_complete(),
    })
}
