//! The screen, and JSON.

use std::fmt::Write as _;

use fulgurite_client::health::share;
use fulgurite_client::monitored::duration;
use serde_json::json;

use super::report::{BackupState, ConsumerState, DatabaseState, Report};

/// The time of an event that has not happened.
const NEVER: &str = "00000101000000Z";

/// Returns the report as a screen.
pub(super) fn screen(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} at {}", report.version, report.url);
    if let Some(seconds) = report.uptime_s {
        let _ = writeln!(out, "up           {}", duration(seconds));
        let connections = &report.connections;
        let _ = writeln!(
            out,
            "connections  {} open, {} since the start, {} at most",
            connections.open, connections.total, connections.max
        );
    }
    if !report.operations.is_empty() {
        out.push_str("\noperation         total     running   per second since the start\n");
    }
    for operations in &report.operations {
        let running = operations.initiated.saturating_sub(operations.completed);
        let _ = writeln!(
            out,
            "{:<12} {:>10}  {running:>10}   {:.1}",
            operations.kind,
            operations.completed,
            rate(report, operations.completed)
        );
    }
    for database in &report.databases {
        show_database(database, &mut out);
    }
    for consumer in &report.consumers {
        show_consumer(consumer, &mut out);
    }
    if let Some(backups) = &report.backups {
        show_backups(backups, &mut out);
    }
    out.push('\n');
    match report.warnings.as_slice() {
        [] => out.push_str("all is well\n"),
        warnings => {
            for warning in warnings {
                let _ = writeln!(out, "warning: {warning}");
            }
        }
    }
    out
}

fn show_database(database: &DatabaseState, out: &mut String) {
    let _ = writeln!(
        out,
        "\ndatabase     {}  ({})",
        database.suffix, database.folder
    );
    let _ = writeln!(out, "entries      {}", database.entries);
    let _ = writeln!(
        out,
        "file         {} of its maximum size: {} pages, {} of them free, {} at most",
        share(database.percent),
        database.pages,
        database.pages_free,
        database.pages_max
    );
    if let Some((transactions, seconds)) = database.oldest_reader
        && transactions > 0
    {
        let _ = writeln!(
            out,
            "readers      the oldest keeps the state {transactions} commits ago, for {seconds} s"
        );
    }
    if database.refused > 0 {
        let _ = writeln!(
            out,
            "refused      {} updates since the start, for lack of room",
            database.refused
        );
    }
}

fn show_backups(backups: &BackupState, out: &mut String) {
    let _ = match &backups.last {
        Some((time, age_s, bytes)) => writeln!(
            out,
            "\nbackups      the newest of {time}, {} old, {bytes} bytes, in {}",
            duration(*age_s),
            backups.directory
        ),
        None => writeln!(out, "\nbackups      none yet in {}", backups.directory),
    };
}

fn show_consumer(consumer: &ConsumerState, out: &mut String) {
    let contact = match consumer.last_contact.as_str() {
        "" | NEVER => "never",
        time => time,
    };
    let _ = writeln!(out, "\ncopied from  {}", consumer.provider);
    let _ = writeln!(
        out,
        "phase        {}, last contact {contact}",
        consumer.phase
    );
    if consumer.quarantined > 0 {
        let _ = writeln!(out, "quarantined  {} entries", consumer.quarantined);
    }
}

/// Returns the report as one object of JSON.
pub(super) fn json(report: &Report) -> String {
    let operations = report.operations.iter().map(|operations| {
        json!({
            "operation": operations.kind,
            "initiated": operations.initiated,
            "completed": operations.completed,
            "per_second": rate(report, operations.completed),
        })
    });
    let databases = report.databases.iter().map(|database| {
        let oldest = database.oldest_reader.unwrap_or_default();
        json!({
            "suffix": database.suffix,
            "folder": database.folder,
            "entries": database.entries,
            "pages": database.pages,
            "pages_free": database.pages_free,
            "pages_max": database.pages_max,
            "used_percent": database.percent,
            "oldest_reader_transactions": oldest.0,
            "oldest_reader_seconds": oldest.1,
            "updates_refused": database.refused,
        })
    });
    let consumers = report.consumers.iter().map(|consumer| {
        json!({
            "provider": consumer.provider,
            "phase": consumer.phase,
            "last_contact": consumer.last_contact,
            "quarantined": consumer.quarantined,
            "trouble": consumer.trouble,
        })
    });
    let backups = report.backups.as_ref().map(|backups| {
        let last = backups.last.as_ref();
        json!({
            "directory": backups.directory,
            "interval_seconds": backups.interval_s,
            "last": last.map(|last| &last.0),
            "age_seconds": last.map(|last| last.1),
            "bytes": last.map(|last| last.2),
            "failures": backups.failures,
            "trouble": backups.trouble,
        })
    });
    let object = json!({
        "url": report.url,
        "version": report.version,
        "uptime_seconds": report.uptime_s,
        "connections": {
            "open": report.connections.open,
            "total": report.connections.total,
            "max": report.connections.max,
        },
        "operations": operations.collect::<Vec<_>>(),
        "databases": databases.collect::<Vec<_>>(),
        "consumers": consumers.collect::<Vec<_>>(),
        "backups": backups,
        "warnings": report.warnings,
    });
    format!("{object}\n")
}

/// Returns a number per second since the start, to one decimal.
fn rate(report: &Report, count: u64) -> f64 {
    let seconds = report.uptime_s.unwrap_or(0).max(1);
    (count as f64 / seconds as f64 * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::super::report::Operations;
    use super::*;

    fn report() -> Report {
        Report {
            url: "ldapi:///".to_owned(),
            version: "Fulgurite 1".to_owned(),
            uptime_s: Some(90_061),
            operations: vec![Operations {
                kind: "Search".to_owned(),
                initiated: 900_612,
                completed: 900_610,
            }],
            databases: vec![DatabaseState {
                suffix: "dc=a".to_owned(),
                pages: 500,
                pages_max: 1000,
                percent: 50,
                ..DatabaseState::default()
            }],
            ..Report::default()
        }
    }

    #[test]
    fn the_screen_has_the_figures() {
        let screen = screen(&report());
        for part in [
            "Fulgurite 1 at ldapi:///\n",
            "up           1 d 1 h\n",
            "Search           900610           2   10.0\n",
            "file         50 % of its maximum size: 500 pages, 0 of them free, 1000 at most\n",
            "\nall is well\n",
        ] {
            assert!(screen.contains(part), "{part:?} is missing:\n{screen}");
        }
    }

    #[test]
    fn json_has_the_same() {
        let mut report = report();
        report.warnings.push("a \"warning\"".to_owned());
        let read: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
        assert_eq!(read["uptime_seconds"], 90_061);
        assert_eq!(read["operations"][0]["per_second"], 10.0);
        assert_eq!(read["databases"][0]["used_percent"], 50);
        assert_eq!(read["warnings"][0], "a \"warning\"");
    }
}
