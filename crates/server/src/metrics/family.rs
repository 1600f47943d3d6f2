//! The names of all figures, and their text as OpenMetrics.

use std::fmt;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

/// A family of figures that differ in their labels.
#[derive(Debug)]
pub(crate) struct Family {
    /// Its name without prefix, unit and suffix.
    name: &'static str,
    kind: Kind,
    unit: Option<FamilyUnit>,
    /// The labels of each figure.
    labels: &'static [&'static str],
    /// One sentence for its reader.
    help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
    Info,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FamilyUnit {
    Seconds,
    Bytes,
}

impl FamilyUnit {
    const fn unit(self) -> Unit {
        match self {
            FamilyUnit::Seconds => Unit::Seconds,
            FamilyUnit::Bytes => Unit::Bytes,
        }
    }
}

/// Durations by their classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    /// Each bound in seconds with the number of durations below it and above the bound before.
    /// `f64::INFINITY` is no bound.
    pub(crate) classes: Vec<(f64, u64)>,
    pub(crate) sum: Duration,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Count(u64),
    /// A count of a part of something, such as seconds.
    Amount(f64),
    Histogram(Histogram),
    /// The labels say it all.
    Info,
}

/// Values of labels, in the order of the family's.
pub(crate) type LabelValues = Vec<String>;

/// The figures of one moment.
#[derive(Debug, Default)]
pub(crate) struct Figures(Vec<(&'static Family, Vec<(LabelValues, Value)>)>);

const PREFIX: &str = "fulgurite";

const fn family(
    kind: Kind,
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Family {
    Family {
        name,
        kind,
        unit: None,
        labels,
        help,
    }
}

impl Family {
    const fn counter(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Family {
        family(Kind::Counter, name, labels, help)
    }

    const fn gauge(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Family {
        family(Kind::Gauge, name, labels, help)
    }

    /// Sets the unit seconds.
    const fn seconds(mut self) -> Family {
        self.unit = Some(FamilyUnit::Seconds);
        self
    }

    /// Sets the unit bytes.
    const fn bytes(mut self) -> Family {
        self.unit = Some(FamilyUnit::Bytes);
        self
    }

    const fn duration(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Family {
        family(Kind::Histogram, name, labels, help).seconds()
    }

    /// Returns the name as queries have it, without the suffixes of a histogram.
    pub(crate) fn full_name(&self) -> String {
        let unit = self.unit.map(|unit| format!("_{}", unit.unit().as_str()));
        let suffix = match self.kind {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::Histogram => "",
        };
        format!("{PREFIX}_{}{}{suffix}", self.name, unit.unwrap_or_default())
    }

    const fn metric_type(&self) -> MetricType {
        match self.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
            Kind::Info => MetricType::Info,
        }
    }
}

macro_rules! families {
    ($($constant:ident = $family:expr;)*) => {
        $( pub(crate) static $constant: Family = $family; )*

        /// All families, in the order of their output.
        pub(crate) static FAMILIES: &[&Family] = &[$(&$constant),*];
    };
}

const DATABASE: &[&str] = &["database"];
const OPERATION: &[&str] = &["operation"];
const CONSUMER: &[&str] = &["database", "rid", "provider"];

families! {
    BUILD = family(Kind::Info, "build", &["version"], "The version of the server.");
    START_TIME = Family::gauge("start_time", &[], "Time since 1970 at which the server started.").seconds();
    OPERATIONS = Family::counter("operations", &["operation", "result"],
        "Operations that have ended, by their result: abandoned and none for those without a response.");
    OPERATIONS_STARTED = Family::counter("operations_started", OPERATION, "Operations that have begun.");
    OPERATION_DURATION = Family::duration("operation_duration", OPERATION,
        "Time from the arrival of a request to its last response.");
    OPERATIONS_RUNNING = Family::gauge("operations_running", &[], "Operations that have begun and are not answered.");
    OPERATIONS_WAITING = Family::gauge("operations_waiting", &[],
        "Requests that wait for earlier operations of their connection.");
    CONNECTIONS = Family::gauge("connections", &[], "Open connections.");
    CONNECTIONS_LIMIT = Family::gauge("connections_limit", &[], "Connections at the same time at most.");
    CONNECTIONS_ACCEPTED = Family::counter("connections_accepted", &[], "Accepted connections.");
    CONNECTIONS_REFUSED = Family::counter("connections_refused", &[], "Connections refused because there were too many.");
    CONNECTIONS_STALLED = Family::gauge("connections_stalled", &[], "Connections whose client does not read its responses.");
    TLS_FAILURES = Family::counter("tls_failures", &[], "Failed negotiations of TLS.");
    SENT = Family::counter("sent", &[], "Bytes sent to clients.").bytes();
    SENT_MESSAGES = Family::counter("sent_messages", &[], "Messages sent to clients.");
    SENT_ENTRIES = Family::counter("sent_entries", &[], "Entries sent to clients.");
    SENT_REFERENCES = Family::counter("sent_references", &[], "Search references sent to clients.");
    SEARCH_CANDIDATES = Family::counter("search_candidates", &[],
        "Entries that searches have looked at; sent_entries counts those that fitted.");
    SEARCHES_UNSELECTIVE = Family::counter("searches_unselective", &[],
        "Searches that looked at a thousand entries or more, and in vain at nine of ten.");
    LOG_LINES_LOST = Family::counter("log_lines_lost", &[], "Lines that could not be written to the file of the log.");
    CERTIFICATE_END = Family::gauge("certificate_end", &[], "Time since 1970 at which the certificate in use expires.").seconds();
    THREADS = Family::gauge("threads", &[], "Threads that answer requests.");
    UPDATES_QUEUED = Family::gauge("updates_queued", &[], "Updates that wait for a writer, or that it is applying.");
    PASSWORD_THREADS = Family::gauge("password_threads", &[], "Threads that verify passwords.");
    PASSWORD_THREADS_BUSY = Family::gauge("password_threads_busy", &[], "Threads that are verifying a password.");
    PASSWORDS_QUEUED = Family::gauge("passwords_queued", &[], "Passwords that wait to be verified.");
    PASSWORDS_REFUSED = Family::counter("passwords_refused", &[], "Passwords refused because too many waited.");
    PASSWORD_DURATION = Family::duration("password_duration", &[], "Time to verify or hash a password, without waiting.");
    BINDS_DELAYED = Family::counter("binds_delayed", &[], "Binds answered late, after failed ones of the same name or address.");
    DATABASE_ENTRIES = Family::gauge("database_entries", DATABASE, "Entries.");
    DATABASE_FILE = Family::gauge("database_file", DATABASE, "Size of the data file.").bytes();
    DATABASE_MAP = Family::gauge("database_map", DATABASE, "Size of the map of the data file.").bytes();
    DATABASE_MAP_LIMIT = Family::gauge("database_map_limit", DATABASE, "Size that the data file can grow to.").bytes();
    DATABASE_PAGE_SIZE = Family::gauge("database_page_size", DATABASE, "Size of a page.").bytes();
    DATABASE_PAGES = Family::gauge("database_pages", DATABASE, "Pages of the data file, free ones included.");
    DATABASE_PAGES_FREE = Family::gauge("database_pages_free", DATABASE, "Free pages of the data file.");
    DATABASE_READERS = Family::gauge("database_readers", DATABASE, "Readers that keep a state of the data, of all processes.");
    DATABASE_READERS_LIMIT = Family::gauge("database_readers_limit", DATABASE, "Readers at the same time at most.");
    DATABASE_OLDEST_READER = Family::gauge("database_oldest_reader_transactions", DATABASE,
        "Commits since the oldest state that a reader keeps.");
    DATABASE_OLDEST_READER_AGE = Family::gauge("database_oldest_reader_age", DATABASE,
        "Time for which the oldest reader has kept its state.").seconds();
    DATABASE_COMMITS = Family::counter("database_commits", DATABASE, "Commits of this server.");
    DATABASE_FLUSH_DURATION = Family::duration("database_flush_duration", DATABASE,
        "Time of flushes to disk. A durable commit has two: pages and meta page.");
    DATABASE_UPDATES_REFUSED = Family::counter("database_updates_refused", &["database", "reason"],
        "Updates refused because map or disk is full.");
    DATABASE_DISK = Family::gauge("database_disk", DATABASE, "Size of the file system of the data file.").bytes();
    DATABASE_DISK_FREE = Family::gauge("database_disk_free", DATABASE,
        "Free bytes of that file system, without those reserved for root.").bytes();
    DATABASE_CHANGE_TIME = Family::gauge("database_change_time", &["database", "server"],
        "Time since 1970 of the newest change of each server that the database contains.").seconds();
    REPLICATION_PHASE = family(Kind::Info, "replication", &["database", "rid", "provider", "phase"],
        "The phase of each provider's copy, as in cn=Monitor.");
    REPLICATION_CONNECTED = Family::gauge("replication_connected", CONSUMER, "1 while a copy has a connection to its provider.");
    REPLICATION_REFRESHED = Family::gauge("replication_refreshed", CONSUMER, "1 once a copy has been complete.");
    REPLICATION_CONTACT_AGE = Family::gauge("replication_contact_age", CONSUMER,
        "Time since the last message of the provider; since the start, if there was none.").seconds();
    REPLICATION_APPLIED = Family::counter("replication_applied", CONSUMER, "Changes of the provider that were stored.");
    REPLICATION_QUARANTINED = Family::gauge("replication_quarantined", CONSUMER, "Entries of the provider that cannot be stored.");
    REPLICATION_COPIES = Family::gauge("replication_copies", DATABASE, "Searches that copy the database to another server.");
    REPLICATION_COPY_BEHIND = Family::gauge("replication_copy_behind", DATABASE,
        "Changes that the slowest copy has not been told.");
    REPLICATION_COPY_LAG = Family::gauge("replication_copy_lag", DATABASE,
        "Age of the oldest change that the slowest copy has not been told.").seconds();
    CLUSTER_LEADING = Family::gauge("cluster_leading", &[], "1 while this node of a cluster is the sequencer.");
    CLUSTER_READY = Family::gauge("cluster_ready", &[], "1 once the node has applied the log, until it stops or needs a copy.");
    CLUSTER_POSITION = Family::gauge("cluster_position", &[], "The batch of the cluster's log that this node has applied last.");
    CLUSTER_WAITING = Family::gauge("cluster_waiting", &[], "Updates that wait for the cluster here.");
    CLUSTER_SILENCE = Family::gauge("cluster_silence", &[], "Time since etcd has answered this node.").seconds();
    CLUSTER_EPOCH = Family::gauge("cluster_epoch", &[], "The newest leadership that this node knows of. It grows with each one.");
    CLUSTER_DURABLE = Family::gauge("cluster_durable_position", &[], "The batch that this node would have after a power cut.");
    CLUSTER_CERTIFICATE_END = Family::gauge("cluster_certificate_end", &[],
        "Time since 1970 at which the first of the node's certificates expires.").seconds();
    CLUSTER_ANSWERS = Family::counter("cluster_log_answers", &["question"], "Questions to etcd with an answer.");
    CLUSTER_ANSWER_TIME = Family::counter("cluster_log_answer_time", &["question"], "Time until these answers, all together.").seconds();
    CLUSTER_SILENCES = Family::counter("cluster_log_silences", &["question"], "Questions to etcd without an answer.");
    CLUSTER_ETCD_SIZE = Family::gauge("cluster_etcd_size", &["member"],
        "Size of the database of each member of etcd that answers.").bytes();
    CLUSTER_ETCD_QUOTA = Family::gauge("cluster_etcd_quota", &["member"], "Bound of that size.").bytes();
    BACKUPS = Family::counter("backups", &["result"], "Backups that the server has written, and attempts that failed.");
    BACKUP_FAILING = Family::gauge("backup_failing", &[], "1 if the last attempt failed.");
    BACKUP_INTERVAL = Family::gauge("backup_interval", &[], "Time from one backup to the next, by the settings.").seconds();
    BACKUP_AGE = Family::gauge("backup_age", &[], "Age of the newest backup; time since the start, if there is none.").seconds();
    BACKUP_DURATION = Family::gauge("backup_duration", &[], "Time that the last backup since the start took.").seconds();
    BACKUP_TIME = Family::gauge("backup_time", &[], "Time since 1970 of the newest backup; 0 if there is none.").seconds();
    BACKUP_SIZE = Family::gauge("backup_size", &[], "Size of the newest backup.").bytes();
    RESIDENT_MEMORY = Family::gauge("process_resident_memory", &[], "Memory in use, pages of the data files included.").bytes();
    ANONYMOUS_MEMORY = Family::gauge("process_anonymous_memory", &[], "Memory in use without pages of files.").bytes();
    CPU_TIME = Family::counter("process_cpu", &[], "Time of all processors.").seconds();
    OPEN_DESCRIPTORS = Family::gauge("process_open_descriptors", &[], "Open file descriptors.");
    DESCRIPTORS_LIMIT = Family::gauge("process_descriptors_limit", &[], "Open file descriptors at most.");
}

impl Figures {
    /// Adds a figure.
    pub(crate) fn add(&mut self, family: &'static Family, labels: LabelValues, value: Value) {
        debug_assert_eq!(labels.len(), family.labels.len(), "{}", family.name);
        let known = self.0.iter_mut().find(|(of, _)| std::ptr::eq(*of, family));
        match known {
            Some((_, figures)) => figures.push((labels, value)),
            None => self.0.push((family, vec![(labels, value)])),
        }
    }

    pub(crate) fn count(&mut self, family: &'static Family, count: u64) {
        self.add(family, Vec::new(), Value::Count(count));
    }

    /// Returns the text of all figures.
    pub(crate) fn text(mut self) -> Result<String, fmt::Error> {
        let place = |family: &Family| FAMILIES.iter().position(|of| std::ptr::eq(*of, family));
        self.0.sort_by_key(|(family, _)| place(family));
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)?;
        Ok(text)
    }
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (family, figures) in &self.0 {
            let unit = family.unit.map(FamilyUnit::unit);
            let kind = family.metric_type();
            let mut metric =
                encoder.encode_descriptor(family.name, family.help, unit.as_ref(), kind)?;
            for (values, value) in figures {
                let labels = family.labels.iter().copied();
                let labels: Vec<(&str, &str)> =
                    labels.zip(values.iter().map(String::as_str)).collect();
                match value {
                    Value::Info => metric.encode_info(&labels)?,
                    value if labels.is_empty() => encode(&mut metric, family.kind, value)?,
                    value => encode(&mut metric.encode_family(&labels)?, family.kind, value)?,
                }
            }
        }
        Ok(())
    }
}

fn encode(metric: &mut MetricEncoder<'_>, kind: Kind, value: &Value) -> Result<(), fmt::Error> {
    match (kind, value) {
        (Kind::Counter, Value::Count(count)) => {
            metric.encode_counter::<NoLabelSet, u64, f64>(count, None)
        }
        (Kind::Counter, Value::Amount(amount)) => {
            metric.encode_counter::<NoLabelSet, f64, f64>(amount, None)
        }
        (_, Value::Count(count)) => metric.encode_gauge(count),
        (_, Value::Amount(amount)) => metric.encode_gauge(amount),
        (_, Value::Histogram(histogram)) => {
            let count = histogram.classes.iter().map(|(_, count)| count).sum();
            let (sum, classes) = (histogram.sum.as_secs_f64(), &histogram.classes);
            metric.encode_histogram::<NoLabelSet>(sum, count, classes, None)
        }
        (_, Value::Info) => Ok(()),
    }
}

/// Returns the table of all figures for the documentation, as Markdown.
#[must_use]
pub fn metrics_table() -> String {
    let mut table = "| name | type | labels | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    for family in FAMILIES {
        let labels: Vec<String> = family
            .labels
            .iter()
            .map(|label| format!("`{label}`"))
            .collect();
        table.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            family.full_name(),
            family.metric_type().as_str(),
            labels.join(", "),
            family.help,
        ));
    }
    table
}

/// Returns the names of all figures.
#[must_use]
pub fn metric_names() -> Vec<String> {
    FAMILIES.iter().map(|family| family.full_name()).collect()
}
