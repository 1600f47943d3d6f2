//! Recordings made wrong on purpose, to see that the judge notices.

use fulgurite_format::Meta;

use super::description::meta_of;
use super::mode::Mode;
use super::recording::Event;
use super::sectors::PAGE;

/// A change of a recording that makes it one of a faulty engine or disk; for tests of the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alteration {
    /// Nothing is changed.
    None,
    /// No sync does anything, nor is any write durable by itself.
    DropSyncs,
    /// Meta pages are not written durably.
    DropMetaSync,
    /// Each sync comes after the meta page that it should come before.
    MetaFirst,
    /// Pages are written over pages that the snapshot before still needs.
    WriteAstray,
    /// Flushes of the map do nothing.
    DropMapFlushes,
    /// A checkpoint is described before its pages are durable.
    DescribeFirst,
    /// Descriptions of checkpoints are never made durable.
    DropDescriptionSyncs,
    /// A description is written over the one before.
    DescribeInPlace,
    /// A page of the checkpoint is reused.
    ReuseCheckpoint,
    /// The boot id of the system is taken for that of the description.
    IgnoreBoot,
}

/// Changes a recording; on a lying disk no sync has an effect from some moment on.
pub(super) fn alter(events: &mut Vec<Event>, mode: Mode, alteration: Alteration) {
    if mode == Mode::Liar {
        // The file is made on an honest disk; the false syncs begin when there is something to
        // lose.
        let first = events
            .iter()
            .position(|event| matches!(event, Event::Promised(1..)))
            .unwrap_or(events.len());
        drop_syncs(&mut events[first..]);
    }
    match alteration {
        Alteration::None | Alteration::IgnoreBoot => {}
        Alteration::DropSyncs => drop_syncs(events),
        Alteration::DescribeFirst => describe_first(events),
        Alteration::DropDescriptionSyncs => events.retain(
            |event| !matches!(event, Event::Description(of) if matches!(**of, Event::Sync)),
        ),
        Alteration::DescribeInPlace => describe_in_place(events),
        Alteration::ReuseCheckpoint => reuse_checkpoint(events),
        Alteration::DropMetaSync => drop_meta_syncs(events),
        Alteration::MetaFirst => meta_first(events),
        Alteration::WriteAstray => write_astray(events),
        Alteration::DropMapFlushes => {
            events.retain(|event| !matches!(event, Event::FlushMap { .. }));
        }
    }
}

fn drop_syncs(events: &mut [Event]) {
    for event in events {
        match event {
            Event::Write { durable, .. } => *durable = false,
            Event::Sync | Event::FlushMap { .. } => *event = Event::Ignored,
            _ => {}
        }
    }
}

fn drop_meta_syncs(events: &mut [Event]) {
    for event in events {
        if let Event::Write { durable, .. } = event {
            *durable = false;
        }
    }
}

/// The meta page is written before the sync of the pages.
fn meta_first(events: &mut [Event]) {
    for at in 1..events.len() {
        if is_meta(&events[at]) && matches!(events[at - 1], Event::Sync) {
            events.swap(at - 1, at);
        }
    }
}

/// A commit's pages also go where an earlier commit's went.
fn write_astray(events: &mut Vec<Event>) {
    let mut last: Option<u64> = None;
    let mut out = Vec::with_capacity(events.len());
    let mut is_first = true;
    for event in events.drain(..) {
        if let Event::Write { at, bytes, .. } = &event {
            if is_meta(&event) {
                is_first = true;
            } else if *at >= 2 * PAGE as u64 {
                if is_first && let Some(last) = last {
                    out.push(Event::Write {
                        at: last,
                        bytes: bytes[..PAGE.min(bytes.len())].into(),
                        durable: false,
                    });
                }
                is_first = false;
                last = Some(*at);
            }
        }
        out.push(event);
    }
    *events = out;
}

/// The flush of the data file comes after the description that it should come before.
fn describe_first(events: &mut [Event]) {
    let is_description = |event: &Event| matches!(event, Event::Description(_));
    for at in 0..events.len() {
        let behind = events[at + 1..]
            .iter()
            .take_while(|event| is_description(event));
        let behind = behind.count();
        if matches!(events[at], Event::Sync) && behind > 0 {
            events[at..=at + behind].rotate_left(1);
        }
    }
}

fn describe_in_place(events: &mut [Event]) {
    for event in events {
        if let Event::Description(of) = event
            && let Event::Write { at, .. } = &mut **of
        {
            *at = 0;
        }
    }
}

/// The first page of each commit also goes where the root of the last checkpoint is.
fn reuse_checkpoint(events: &mut Vec<Event>) {
    let (mut root, mut described) = (None, None);
    let mut out = Vec::with_capacity(events.len());
    for event in events.drain(..) {
        match &event {
            Event::Description(of) => match &**of {
                Event::Write { bytes, .. } => {
                    let meta = meta_of(bytes).and_then(|octets| Meta::read(&octets[..]).ok());
                    let page = meta.map(|meta| meta.main.root);
                    described = page.filter(|page| !page.is_none());
                }
                Event::Sync => root = described,
                _ => {}
            },
            Event::Write { at, bytes, .. } if *at >= 2 * PAGE as u64 => {
                if let Some(root) = root.take() {
                    out.push(Event::Write {
                        at: root.0 * PAGE as u64,
                        bytes: bytes[..PAGE.min(bytes.len())].into(),
                        durable: false,
                    });
                }
            }
            _ => {}
        }
        out.push(event);
    }
    *events = out;
}

fn is_meta(event: &Event) -> bool {
    matches!(event, Event::Write { at, bytes, .. } if *at < 2 * PAGE as u64 && bytes.len() < PAGE)
}
