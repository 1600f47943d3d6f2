//! The system's log, as slapd writes to it: syslog(3), severity DEBUG, facility LOCAL4 unless told otherwise.

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

/// Where syslog(3) sends what it is given.
const SOCKET: &str = "/dev/log";

/// How a program appears in the system's log.
#[derive(Debug)]
pub(crate) struct SystemLog {
    /// Its name.
    pub(crate) name: String,
    /// The kind of program it is.
    pub(crate) facility: Facility,
}

impl SystemLog {
    /// Whether the machine has such a log; without one, formatting lines for it would be work for nothing.
    pub(crate) fn exists() -> bool {
        let socket = Path::new(SOCKET).metadata();
        socket.is_ok_and(|data| data.file_type().is_socket())
    }

    /// Opens the log; `None` for a second one in this process.
    pub(super) fn open(self) -> Option<LikeSlapd> {
        let name = self.name.replace('\0', "");
        let name = CString::new(name).unwrap_or_default();
        let options = Options::LOG_PID | Options::LOG_NDELAY;
        Syslog::new(name, options, self.facility).map(LikeSlapd)
    }
}

/// slapd gives all its lines one severity, DEBUG, and log daemons are set up for that. What needs a person is to be told
/// from the rest all the same, so warnings and errors keep theirs.
pub(super) struct LikeSlapd(Syslog);

impl<'w> MakeWriter<'w> for LikeSlapd {
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

/// What stands for the severity DEBUG: an event of the level that has it.
static DEBUG: Metadata<'static> = Metadata::new(
    "syslog",
    "syslog",
    Level::TRACE,
    None,
    None,
    None,
    FieldSet::new(&[], Identifier(&Nowhere)),
    Kind::EVENT,
);

struct Nowhere;

impl Callsite for Nowhere {
    fn set_interest(&self, _: Interest) {}

    fn metadata(&self) -> &Metadata<'_> {
        &DEBUG
    }
}

/// Reads the name of a facility, as slapd's `-l` takes it.
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
