//! The system's log as slapd writes it: syslog(3), severity DEBUG, facility LOCAL4 by default.

use std::ffi::CString;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use syslog_tracing::{Options, Syslog, SyslogWriter};
use tracing::callsite::{Callsite, Identifier};
use tracing::field::FieldSet;
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

pub(crate) use syslog_tracing::Facility;

/// The socket of syslog(3).
const SOCKET: &str = "/dev/log";

/// The identity of a program in the system's log.
#[derive(Debug)]
pub(crate) struct SystemLog {
    /// Its name.
    pub(crate) name: String,
    /// Its facility.
    pub(crate) facility: Facility,
}

impl SystemLog {
    /// Returns true if the machine has such a log. Without one, the program formats no lines for
    /// it.
    pub(crate) fn exists() -> bool {
        let socket = Path::new(SOCKET).metadata();
        socket.is_ok_and(|data| data.file_type().is_socket())
    }

    /// Opens the log. Returns `None` for a second one in this process.
    pub(super) fn open(self) -> Option<SyslogSink> {
        let name = self.name.replace('\0', "");
        let name = CString::new(name).unwrap_or_default();
        let options = Options::LOG_PID | Options::LOG_NDELAY;
        Syslog::new(name, options, self.facility).map(SyslogSink)
    }
}

/// slapd logs all lines with the severity DEBUG, and log daemons are configured for that. Warnings
/// and errors keep their severity, so that they stand out.
pub(super) struct SyslogSink(Syslog);

impl<'w> MakeWriter<'w> for SyslogSink {
    type Writer = SyslogWriter;

    fn make_writer(&'w self) -> SyslogWriter {
        self.0.make_writer_for(&DEBUG)
    }

    fn make_writer_for(&'w self, event: &Metadata<'_>) -> SyslogWriter {
        match *event.level() {
            Level::ERROR | Level::WARN => self.0.make_writer_for(event),
            _ => self.make_writer(),
        }
    }
}

/// An event whose level maps to the severity DEBUG.
static DEBUG: Metadata<'static> = Metadata::new(
    "syslog",
    "syslog",
    Level::TRACE,
    None,
    None,
    None,
    FieldSet::new(&[], Identifier(&EmptyCallsite)),
    Kind::EVENT,
);

struct EmptyCallsite;

impl Callsite for EmptyCallsite {
    fn set_interest(&self, _: Interest) {}

    fn metadata(&self) -> &Metadata<'_> {
        &DEBUG
    }
}

/// Parses the name of a facility, as slapd's `-l` does.
pub(crate) fn facility(name: &str) -> Option<Facility> {
    let known = [
        ("LOCAL0", Facility::Local0),
        ("LOCAL1", Facility::Local1),
        ("LOCAL2", Facility::Local2),
        ("LOCAL3", Facility::Local3),
        ("LOCAL4", Facility::Local4),
        ("LOCAL5", Facility::Local5),
        ("LOCAL6", Facility::Local6),
        ("LOCAL7", Facility::Local7),
        ("USER", Facility::User),
        ("DAEMON", Facility::Daemon),
    ];
    let mut known = known.into_iter();
    known
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, facility)| facility)
}
