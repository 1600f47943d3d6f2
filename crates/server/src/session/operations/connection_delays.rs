//! The delays of answers to binds, as one connection keeps them.

use std::net::IpAddr;
use std::time::Duration;

use fulgurite_directory::{Connection, EndPoint};

use crate::session::bind_delays::{BindDelays, counted_address};
use crate::session::limits::SessionLimits;

/// The delays of answers to binds, for one connection.
pub(super) struct ConnectionDelays<'h> {
    pub(super) table: Option<&'h BindDelays>,
    /// The longest delay; zero if no answer is delayed.
    pub(super) longest: Duration,
    pub(super) address: Option<IpAddr>,
    /// The answer of the bind that has ended, until it goes out.
    pub(super) held: Option<Vec<u8>>,
}

impl ConnectionDelays<'_> {
    pub(super) fn new(limits: &SessionLimits, connection: &Connection) -> Self {
        ConnectionDelays {
            table: None,
            longest: limits.bind_delay_max,
            address: address_of(connection),
            held: None,
        }
    }
}

pub(super) fn address_of(connection: &Connection) -> Option<IpAddr> {
    match &connection.peer {
        EndPoint::Ip(address) => counted_address(address.ip()),
        EndPoint::Path(_) | EndPoint::Unknown => None,
    }
}
