//! Messages to the service manager that started the server, such as systemd: sd_notify(3).
//!
//! Without the variable `NOTIFY_SOCKET` nobody listens, and nothing is sent. The acceptor sends
//! them, so a blocked acceptor gives no sign of life.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// The service manager of this process, if it has one.
#[derive(Debug, Default)]
pub(super) struct ServiceManager {
    /// False for a server inside another program, whose messages are its own.
    is_told: bool,
    /// Time between two signs of life; `None` if nobody waits for them.
    interval: Option<Duration>,
    /// The time of the last sign of life.
    last_sign: Option<Instant>,
}

impl ServiceManager {
    /// Returns the service manager of a server that is the whole process.
    pub(super) fn of_process() -> ServiceManager {
        ServiceManager {
            is_told: true,
            // The manager waits for the whole time that it names.
            interval: sd_notify::watchdog_enabled().map(|limit| limit / 2),
            last_sign: None,
        }
    }

    /// Tells that the server answers clients.
    pub(super) fn ready(&self) {
        self.tell(&[NotifyState::Ready, NotifyState::Status("answering")]);
    }

    /// Tells that the server reads its settings again. [`ready`](Self::ready) ends this state.
    pub(super) fn reloading(&self) {
        let status = NotifyState::Status("reading the settings again");
        match NotifyState::monotonic_usec_now() {
            Ok(now) => self.tell(&[NotifyState::Reloading, now, status]),
            Err(_) => self.tell(&[NotifyState::Reloading, status]),
        }
    }

    /// Tells that the server lets running operations finish and then ends.
    pub(super) fn stopping(&self) {
        let status = NotifyState::Status("finishing running operations");
        self.tell(&[NotifyState::Stopping, status]);
    }

    /// Sends a sign of life if one is due, and returns the time until the next one.
    pub(super) fn sign_of_life(&mut self, now: Instant) -> Option<Duration> {
        let interval = self.interval?;
        let since = self.last_sign.map(|last| now.duration_since(last));
        if let Some(since) = since.filter(|since| *since < interval) {
            return Some(interval - since);
        }
        self.tell(&[NotifyState::Watchdog]);
        self.last_sign = Some(now);
        Some(interval)
    }

    fn tell(&self, states: &[NotifyState<'_>]) {
        if !self.is_told {
            return;
        }
        if let Err(error) = sd_notify::notify(states) {
            tracing::warn!("cannot tell the service manager: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_life_keep_their_interval() {
        let second = Duration::from_secs(1);
        let mut manager = ServiceManager {
            interval: Some(30 * second),
            ..ServiceManager::default()
        };
        let begun = Instant::now();
        assert_eq!(manager.sign_of_life(begun), Some(30 * second));
        assert_eq!(manager.sign_of_life(begun + 10 * second), Some(20 * second));
        assert_eq!(manager.last_sign, Some(begun));
        let late = begun + 31 * second;
        assert_eq!(manager.sign_of_life(late), Some(30 * second));
        assert_eq!(manager.last_sign, Some(late));
        assert_eq!(ServiceManager::default().sign_of_life(begun), None);
    }
}
