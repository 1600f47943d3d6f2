//! Figures of the databases, and of their copies.

use std::collections::BTreeMap;
use std::time::Duration;

use fulgurite_store::{FlushTimes, LogLag, Store};

use super::family::{self, Family, Figures, Histogram, LabelValues, Value};
use super::health::{ServedDatabase, is_complete};
use crate::replication_status::SessionStatus;
use crate::statistics::Statistics;

/// Adds the figures of all databases.
pub(super) fn add(figures: &mut Figures, databases: &[ServedDatabase], statistics: &Statistics) {
    for database in databases {
        let mut of_database = DatabaseFigures {
            figures,
            labels: vec![database.suffix.clone()],
        };
        of_database.add_sizes(&database.store);
        of_database.add_readers(&database.store);
        of_database.add_commits(&database.store);
        of_database.add_changes(&database.store);
        for (rid, status) in statistics.replication().of(database.store.path()) {
            of_database.add_consumer(&database.store, rid, &status, statistics);
        }
    }
}

struct DatabaseFigures<'f> {
    figures: &'f mut Figures,
    labels: LabelValues,
}

impl DatabaseFigures<'_> {
    fn count(&mut self, family: &'static Family, count: u64) {
        self.figures
            .add(family, self.labels.clone(), Value::Count(count));
    }

    fn add_sizes(&mut self, store: &Store) {
        let environment = store.environment();
        if let Ok(entries) = store.snapshot().and_then(|view| view.entry_count()) {
            self.count(&family::DATABASE_ENTRIES, entries);
        }
        if let Ok(info) = environment.info() {
            self.count(&family::DATABASE_MAP, info.map_size);
            self.count(&family::DATABASE_MAP_LIMIT, info.map_bytes_max);
            self.count(&family::DATABASE_PAGE_SIZE, info.page_size as u64);
            self.count(&family::DATABASE_PAGES, info.last_page + 1);
            self.count(&family::DATABASE_READERS_LIMIT, info.readers_max.into());
        }
        if let Ok(free) = environment.read().and_then(|txn| txn.free_pages()) {
            self.count(&family::DATABASE_PAGES_FREE, free.total());
        }
        if let Ok(file) = rustix::fs::fstat(environment.fd()) {
            let bytes = u64::try_from(file.st_size).unwrap_or_default();
            self.count(&family::DATABASE_FILE, bytes);
        }
        if let Ok(disk) = rustix::fs::fstatvfs(environment.fd()) {
            self.count(&family::DATABASE_DISK, disk.f_blocks * disk.f_frsize);
            self.count(&family::DATABASE_DISK_FREE, disk.f_bavail * disk.f_frsize);
        }
    }

    fn add_readers(&mut self, store: &Store) {
        let readers = store.environment().readers().unwrap_or_default();
        let active = || readers.iter().filter(|reader| reader.snapshot.is_some());
        let lag = active().map(|reader| reader.lag).max();
        let age = active().filter_map(|reader| reader.age).max();
        self.count(&family::DATABASE_READERS, active().count() as u64);
        self.count(&family::DATABASE_OLDEST_READER, lag.unwrap_or(0));
        let age = Value::Amount(age.unwrap_or_default().as_secs_f64());
        let labels = self.labels.clone();
        self.figures
            .add(&family::DATABASE_OLDEST_READER_AGE, labels, age);
    }

    fn add_commits(&mut self, store: &Store) {
        let counts = store.commit_counts();
        self.count(&family::DATABASE_COMMITS, counts.commits);
        for (reason, count) in [("map", counts.refused_map), ("disk", counts.refused_disk)] {
            let mut labels = self.labels.clone();
            labels.push(reason.to_owned());
            let count = Value::Count(count);
            self.figures
                .add(&family::DATABASE_UPDATES_REFUSED, labels, count);
        }
        let times = Value::Histogram(histogram(&store.environment().flush_times()));
        let labels = self.labels.clone();
        self.figures
            .add(&family::DATABASE_FLUSH_DURATION, labels, times);
    }

    fn add_changes(&mut self, store: &Store) {
        let Ok(view) = store.snapshot() else {
            return;
        };
        let Ok(changes) = view.changes() else {
            return;
        };
        let copies = store.log_readers();
        self.count(&family::REPLICATION_COPIES, copies.len() as u64);
        let slowest = copies.iter().map(|copy| copy.position).min();
        let now_us = crate::statistics::seconds_now() * 1_000_000;
        let lag = slowest.map(|position| view.lag_behind(position, now_us));
        if let Ok(lag) = lag.unwrap_or_else(|| Ok(LogLag::default())) {
            self.count(&family::REPLICATION_COPY_BEHIND, lag.changes);
            let seconds = Value::Amount(lag.age_us as f64 / 1e6);
            let labels = self.labels.clone();
            self.figures
                .add(&family::REPLICATION_COPY_LAG, labels, seconds);
        }
        let mut newest: BTreeMap<u16, f64> = BTreeMap::new();
        for csn in changes.vector.iter() {
            if let Some(seconds) = csn_seconds(&csn.text()) {
                newest.insert(csn.server(), seconds);
            }
        }
        for (server, seconds) in newest {
            let mut labels = self.labels.clone();
            labels.push(server.to_string());
            self.figures.add(
                &family::DATABASE_CHANGE_TIME,
                labels,
                Value::Amount(seconds),
            );
        }
    }

    fn add_consumer(
        &mut self,
        store: &Store,
        rid: u16,
        status: &SessionStatus,
        statistics: &Statistics,
    ) {
        let (rid, provider) = (rid.to_string(), status.provider.clone());
        let labels = [self.labels.clone(), vec![rid, provider]].concat();
        let phase = [
            labels.clone(),
            vec![status.consumer.phase.as_str().to_owned()],
        ]
        .concat();
        self.figures
            .add(&family::REPLICATION_PHASE, phase, Value::Info);
        let now_ms = crate::statistics::seconds_now() * 1000;
        let started_ms = statistics.facts().started_s * 1000;
        let contact = status.consumer.last_contact_ms.unwrap_or(started_ms);
        let age = Duration::from_millis(now_ms.saturating_sub(contact));
        for (family, value) in [
            (
                &family::REPLICATION_CONNECTED,
                Value::Count((!status.connection.is_empty()).into()),
            ),
            (
                &family::REPLICATION_REFRESHED,
                Value::Count(is_complete(store).into()),
            ),
            (
                &family::REPLICATION_CONTACT_AGE,
                Value::Amount(age.as_secs_f64()),
            ),
            (&family::REPLICATION_APPLIED, Value::Count(status.applied)),
            (
                &family::REPLICATION_QUARANTINED,
                Value::Count(status.quarantined),
            ),
        ] {
            self.figures.add(family, labels.clone(), value);
        }
    }
}

fn histogram(times: &FlushTimes) -> Histogram {
    let bounds = FlushTimes::BOUNDS_US.iter();
    let bounds = bounds.map(|microseconds| *microseconds as f64 / 1e6);
    Histogram {
        classes: bounds.chain([f64::INFINITY]).zip(times.counts).collect(),
        sum: times.total,
    }
}

/// Returns the seconds since 1970 of a change number: `20261126223333.123456Z#...`.
pub(crate) fn csn_seconds(text: &str) -> Option<f64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let seconds = number(8, 10)? * 3600 + number(10, 12)? * 60 + number(12, 14)?;
    // Days of the Gregorian calendar, in years that begin in March.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        month => (year, month - 3),
    };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    let whole = days * 86_400 + seconds;
    Some(whole as f64 + number(15, 21)? as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_numbers_have_their_time() {
        for (text, seconds) in [
            ("19700101000000.000000Z#000000#000#000000", 0.0),
            ("20000229235959.500000Z#000000#001#000000", 951_868_799.5),
            ("20261126223333.250000Z#000001#000#000000", 1_795_732_413.25),
        ] {
            assert_eq!(csn_seconds(text), Some(seconds), "{text}");
        }
        assert_eq!(csn_seconds("2026"), None);
    }
}
