//! The records of all logs of a tree, in the order of their times.
//!
//! Each log has its order. The next record is the oldest one among the first ones of the logs.

use fulgurite_schema::{Entry, Schema};
use fulgurite_store::{
    ChangeRecord, OperationLogView, OperationPosition, OperationRecord, StoreError, View,
};

use super::log_bounds::{LogBounds, RecordParts};
use crate::core::logged_operations::{LoggedField, LoggedKind};
use crate::generated::access_log::{AccessLog, LogPosition};
use crate::generated::audit_entry::logged_kind;

/// The place of a walk in all logs. It outlives the snapshots.
pub(super) struct LogPlace {
    stores: Vec<StorePlace>,
    operation: OperationPosition,
    /// The serial of the first operation behind the walk.
    serial_end: u64,
}

/// The place in the log of one store.
struct StorePlace {
    next: u64,
    /// The newest record that the walk began with.
    newest: u64,
}

/// A record of one of the logs.
pub(super) enum LogRecord<'v> {
    Change(LogPosition, ChangeRecord<'v>),
    Operation(OperationPosition, OperationRecord<'v>),
}

/// The outcome of a look for a record.
#[expect(
    clippy::large_enum_variant,
    reason = "one is made for each step, and none is kept"
)]
pub(super) enum NextRecord<'v> {
    Record(LogRecord<'v>),
    /// The work of the step is used up.
    Pause,
    End,
}

/// Snapshots of all logs.
pub(super) struct LogViews<'l> {
    stores: Vec<View<'l>>,
    operations: Option<OperationLogView<'l>>,
}

/// The records behind a place, in their order.
pub(super) struct LogRecords<'v> {
    schema: &'v Schema,
    bounds: &'v LogBounds,
    views: &'v LogViews<'v>,
    /// The next record of each log. The last one is that of operations.
    heads: Vec<Head<'v>>,
}

#[expect(clippy::large_enum_variant, reason = "a merge has two of them")]
enum Head<'v> {
    Unknown,
    Known(LogRecord<'v>),
    End,
}

impl<'l> LogViews<'l> {
    /// Opens snapshots. With `newest`, they have all that happened before.
    pub(super) fn open(log: &'l AccessLog, newest: bool) -> Result<LogViews<'l>, StoreError> {
        let operations = log.operations_view(newest)?;
        Ok(LogViews {
            operations,
            stores: log.views()?,
        })
    }
}

impl LogPlace {
    /// Returns the place of the first records.
    pub(super) fn begin(views: &LogViews<'_>, bounds: &LogBounds) -> Result<LogPlace, StoreError> {
        let mut stores = Vec::with_capacity(views.stores.len());
        for view in &views.stores {
            let newest = view.changes()?.newest;
            stores.push(StorePlace { next: 0, newest });
        }
        let operations = views.operations.as_ref();
        Ok(LogPlace {
            stores,
            operation: OperationPosition {
                second: bounds.from_s,
                serial: 0,
            },
            serial_end: operations.map_or(0, OperationLogView::next_serial),
        })
    }
}

impl LogRecord<'_> {
    fn time_us(&self) -> u64 {
        match self {
            LogRecord::Change(_, record) => record.time_us,
            LogRecord::Operation(_, record) => record.start_us,
        }
    }

    /// Returns the entry of the record; `None` if it is not shown.
    pub(super) fn entry(
        &self,
        log: &AccessLog,
        schema: &Schema,
    ) -> Result<Option<Entry>, StoreError> {
        match self {
            LogRecord::Change(at, record) => log.entry_of(schema, *at, record),
            LogRecord::Operation(at, record) => Ok(log.entry_of_operation(schema, *at, record)),
        }
    }
}

impl<'v> LogRecords<'v> {
    pub(super) fn new(
        schema: &'v Schema,
        bounds: &'v LogBounds,
        views: &'v LogViews<'v>,
    ) -> LogRecords<'v> {
        let heads = (0..=views.stores.len()).map(|_| Head::Unknown).collect();
        LogRecords {
            schema,
            bounds,
            views,
            heads,
        }
    }

    /// Takes the next record. Each record that it takes or skips costs one of `left`.
    pub(super) fn next(
        &mut self,
        place: &mut LogPlace,
        left: &mut usize,
    ) -> Result<NextRecord<'v>, StoreError> {
        if *left == 0 {
            return Ok(NextRecord::Pause);
        }
        for number in 0..self.heads.len() {
            if matches!(self.heads.get(number), Some(Head::Unknown)) {
                let found = match number.checked_sub(self.views.stores.len()) {
                    None => self.next_change(number, place, left)?,
                    Some(_) => self.next_operation(place, left)?,
                };
                let Some(head) = found else {
                    return Ok(NextRecord::Pause);
                };
                if let Some(slot) = self.heads.get_mut(number) {
                    *slot = head;
                }
            }
        }
        let times = self.heads.iter_mut().filter_map(|head| match head {
            Head::Known(record) => Some((record.time_us(), head)),
            Head::Unknown | Head::End => None,
        });
        let Some((_, oldest)) = times.min_by_key(|(time_us, _)| *time_us) else {
            return Ok(NextRecord::End);
        };
        let Head::Known(record) = std::mem::replace(oldest, Head::Unknown) else {
            return Ok(NextRecord::End);
        };
        *left = left.saturating_sub(1);
        match &record {
            LogRecord::Change(at, _) => {
                if let Some(store) = place.stores.get_mut(at.store) {
                    store.next = at.position + 1;
                }
            }
            LogRecord::Operation(at, _) => place.operation = at.behind(),
        }
        Ok(NextRecord::Record(record))
    }

    /// Returns the next change of a store within the bounds; `None` without work left.
    fn next_change(
        &self,
        number: usize,
        place: &mut LogPlace,
        left: &mut usize,
    ) -> Result<Option<Head<'v>>, StoreError> {
        let (Some(view), Some(store)) =
            (self.views.stores.get(number), place.stores.get_mut(number))
        else {
            return Ok(Some(Head::End));
        };
        store.next = store.next.max(view.changes()?.oldest);
        while store.next <= store.newest {
            if *left == 0 {
                return Ok(None);
            }
            if let Some(record) = view.change(store.next)?
                && let Some(kind) = logged_kind(&record)
                && self.admits(kind, record.time_us, Some(0), Some(record.dn.as_bytes()))
            {
                let at = LogPosition {
                    store: number,
                    position: store.next,
                };
                return Ok(Some(Head::Known(LogRecord::Change(at, record))));
            }
            *left -= 1;
            store.next += 1;
        }
        Ok(Some(Head::End))
    }

    /// Returns the next operation within the bounds; `None` without work left.
    fn next_operation(
        &self,
        place: &mut LogPlace,
        left: &mut usize,
    ) -> Result<Option<Head<'v>>, StoreError> {
        let Some(view) = &self.views.operations else {
            return Ok(Some(Head::End));
        };
        while let Some((at, record)) = view.next(place.operation)? {
            if at.second > self.bounds.to_s {
                break;
            }
            if *left == 0 {
                return Ok(None);
            }
            let target = record.field(LoggedField::Target.number());
            if at.serial < place.serial_end
                && let Some(kind) = LoggedKind::of_number(record.kind)
                && self.admits(kind, record.start_us, record.result, target)
            {
                place.operation = at;
                return Ok(Some(Head::Known(LogRecord::Operation(at, record))));
            }
            *left -= 1;
            place.operation = at.behind();
        }
        Ok(Some(Head::End))
    }

    fn admits(
        &self,
        kind: LoggedKind,
        start_us: u64,
        result: Option<u32>,
        target: Option<&[u8]>,
    ) -> bool {
        let parts = RecordParts {
            start_us,
            kind,
            result,
            target,
        };
        self.bounds.admit(self.schema, &parts)
    }
}
