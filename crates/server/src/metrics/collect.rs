//! Collects the figures of one moment.

use std::fmt;
use std::sync::atomic::Ordering;

use super::family::{self, Figures, Histogram, Value};
use super::health::Health;
use super::{backups, process, stores};
use crate::log_loss::lost_log_lines;
use crate::statistics::{
    BOUNDS_NS, ConnectionCounters, DurationCounts, OPERATIONS, Statistics, Totals, outcome_names,
};

/// Returns the text of all figures.
pub(super) fn collect(health: &Health, statistics: &Statistics) -> Result<String, fmt::Error> {
    let mut figures = Figures::default();
    let version = vec![env!("CARGO_PKG_VERSION").to_owned()];
    figures.add(&family::BUILD, version, Value::Info);
    let totals = statistics.totals();
    add_operations(&mut figures, &totals);
    add_connections(&mut figures, statistics);
    add_sent(&mut figures, &totals);
    add_passwords(&mut figures, statistics, &totals);
    figures.count(&family::UPDATES_QUEUED, statistics.updates_queued());
    stores::add(&mut figures, &health.databases(), statistics);
    backups::add(&mut figures, statistics);
    add_cluster(&mut figures, health);
    figures.count(&family::LOG_LINES_LOST, lost_log_lines());
    if let Some(end_s) = statistics.certificate_end_s() {
        figures.count(&family::CERTIFICATE_END, end_s);
    }
    process::add(&mut figures);
    figures.text()
}

fn add_operations(figures: &mut Figures, totals: &Totals) {
    for (place, (name, _)) in OPERATIONS.iter().enumerate() {
        let name = name.to_ascii_lowercase();
        let counts = totals.outcomes.get(place).into_iter().flatten();
        for (outcome, count) in outcome_names().zip(counts) {
            // The first counts of common results are no jump then.
            let is_expected = outcome == "success" && !matches!(&*name, "unbind" | "abandon");
            if *count > 0 || is_expected {
                let labels = vec![name.clone(), outcome];
                figures.add(&family::OPERATIONS, labels, Value::Count(*count));
            }
        }
        let labels = || vec![name.clone()];
        if let Some(count) = totals.initiated.get(place) {
            let count = Value::Count(*count);
            figures.add(&family::OPERATIONS_STARTED, labels(), count);
        }
        if let Some(durations) = totals.durations.get(place) {
            let durations = Value::Histogram(histogram(durations));
            figures.add(&family::OPERATION_DURATION, labels(), durations);
        }
    }
}

fn add_connections(figures: &mut Figures, statistics: &Statistics) {
    let connections = statistics.connections();
    let sum = |pick: fn(&ConnectionCounters) -> u64| -> u64 {
        connections.values().map(|figures| pick(figures)).sum()
    };
    let facts = statistics.facts();
    for (family, count) in [
        (&family::START_TIME, facts.started_s),
        (&family::THREADS, facts.threads),
        (&family::CONNECTIONS, connections.len() as u64),
        (&family::CONNECTIONS_LIMIT, facts.connections_max),
        (
            &family::CONNECTIONS_ACCEPTED,
            statistics.connections_total(),
        ),
        (
            &family::CONNECTIONS_REFUSED,
            statistics.connections_refused(),
        ),
        (
            &family::CONNECTIONS_STALLED,
            sum(|of| of.waits_to_write.load(Ordering::Relaxed).into()),
        ),
        (
            &family::OPERATIONS_RUNNING,
            sum(|of| of.executing.load(Ordering::Relaxed)),
        ),
        (
            &family::OPERATIONS_WAITING,
            sum(|of| of.pending.load(Ordering::Relaxed)),
        ),
    ] {
        figures.count(family, count);
    }
}

/// Adds the figures of the node of a cluster, if the server is one.
fn add_cluster(figures: &mut Figures, health: &Health) {
    let Some(node) = health.node() else {
        return;
    };
    let status = node.status();
    figures.count(&family::CLUSTER_LEADING, status.is_leading.into());
    figures.count(&family::CLUSTER_READY, node.is_unready().is_none().into());
    figures.count(&family::CLUSTER_POSITION, status.position.0);
    figures.count(&family::CLUSTER_WAITING, status.waiting as u64);
    if let Some(silence_ms) = node.silence_ms() {
        let seconds = Value::Amount(silence_ms as f64 / 1e3);
        figures.add(&family::CLUSTER_SILENCE, Vec::new(), seconds);
    }
    figures.count(&family::CLUSTER_DURABLE, status.durable.0);
    if let Some(epoch) = status.newest_epoch {
        figures.count(&family::CLUSTER_EPOCH, epoch.0);
    }
    if let Some(end_s) = node.certificate_end_s() {
        figures.count(&family::CLUSTER_CERTIFICATE_END, end_s);
    }
    for answers in status.answers {
        let labels = || vec![answers.question.to_owned()];
        let count = Value::Count;
        let seconds = Value::Amount(answers.answered_us as f64 / 1e6);
        figures.add(&family::CLUSTER_ANSWERS, labels(), count(answers.answers));
        figures.add(&family::CLUSTER_ANSWER_TIME, labels(), seconds);
        figures.add(&family::CLUSTER_SILENCES, labels(), count(answers.silences));
    }
    for space in node.space() {
        let labels = || vec![space.member.clone()];
        figures.add(
            &family::CLUSTER_ETCD_SIZE,
            labels(),
            Value::Count(space.bytes),
        );
        if let Some(quota) = space.quota {
            figures.add(&family::CLUSTER_ETCD_QUOTA, labels(), Value::Count(quota));
        }
    }
}

fn add_sent(figures: &mut Figures, totals: &Totals) {
    for (family, count) in [
        (&family::TLS_FAILURES, totals.tls_failures),
        (&family::SENT, totals.bytes),
        (&family::SENT_MESSAGES, totals.messages),
        (&family::SENT_ENTRIES, totals.entries),
        (&family::SENT_REFERENCES, totals.references),
        (&family::SEARCH_CANDIDATES, totals.candidates),
        (&family::SEARCHES_UNSELECTIVE, totals.unselective),
    ] {
        figures.count(family, count);
    }
}

fn add_passwords(figures: &mut Figures, statistics: &Statistics, totals: &Totals) {
    let pool = statistics.hashing_totals(totals.passwords_queued);
    figures.count(&family::PASSWORD_THREADS, pool.threads);
    figures.count(&family::PASSWORD_THREADS_BUSY, pool.busy);
    figures.count(&family::PASSWORDS_QUEUED, pool.waiting);
    figures.count(&family::PASSWORDS_REFUSED, totals.passwords_refused);
    figures.count(&family::BINDS_DELAYED, totals.binds_delayed);
    let durations = Value::Histogram(histogram(&pool.durations));
    figures.add(&family::PASSWORD_DURATION, Vec::new(), durations);
}

fn histogram(counts: &DurationCounts) -> Histogram {
    let bounds = BOUNDS_NS
        .iter()
        .map(|nanoseconds| *nanoseconds as f64 / 1e9);
    Histogram {
        classes: bounds.chain([f64::INFINITY]).zip(counts.classes).collect(),
        sum: counts.total,
    }
}
