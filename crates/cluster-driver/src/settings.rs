//! The settings of a driver.

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fulgurite_cluster::{NodeId, NodeSettings, Time};

/// A source of the time.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// Returns the clocks of the system.
#[must_use]
pub fn system_clock() -> Clock {
    let begun = Instant::now();
    Arc::new(move || {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        Time {
            now_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            wall_us: wall.map_or(0, |wall| {
                u64::try_from(wall.as_micros()).unwrap_or(u64::MAX)
            }),
        }
    })
}

/// The settings of a driver.
#[derive(Clone)]
pub struct DriverSettings {
    /// The number of the node.
    pub node: NodeId,
    /// Random bytes, which no other life of any node has.
    pub life: [u8; 8],
    /// The waits and bounds of the node.
    pub waits: NodeSettings,
    /// The time between two looks at the clock, in milliseconds.
    pub tick_ms: u64,
    /// Messages that wait for the thread, at most.
    pub inbox_max: usize,
    /// The wait for the end of the leadership and for outcomes at a stop, in milliseconds.
    pub stop_wait_ms: u64,
    /// The source of the time.
    pub clock: Clock,
}

impl DriverSettings {
    /// Returns the usual settings, with the clocks of the system.
    #[must_use]
    pub fn new(node: NodeId, life: [u8; 8]) -> DriverSettings {
        DriverSettings {
            node,
            life,
            waits: NodeSettings::default(),
            tick_ms: 100,
            inbox_max: 4096,
            stop_wait_ms: 3000,
            clock: system_clock(),
        }
    }
}

impl fmt::Debug for DriverSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("DriverSettings");
        out.field("node", &self.node)
            .field("waits", &self.waits)
            .finish_non_exhaustive()
    }
}
