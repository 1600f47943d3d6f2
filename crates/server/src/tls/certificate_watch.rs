//! Watches the end of the certificate: what expires while a server runs is no change of a file.

use std::time::{Duration, Instant};

/// The interval of looks.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// The interval at which a line is repeated.
const REPEAT_EVERY: Duration = Duration::from_secs(24 * 3600);

/// Days before the end from which on there are warnings.
const WARNING_DAYS: u64 = 30;

const DAY_S: u64 = 86_400;

/// The lines about the certificate so far.
#[derive(Debug, Default)]
pub(crate) struct CertificateWatch {
    looked: Option<Instant>,
    /// The end that was spoken of, if it was over then, and when that was.
    told: Option<(u64, bool, Instant)>,
}

/// A line for the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CertificateNotice {
    /// It ends in this number of days.
    Ends(u64),
    /// It has ended.
    Expired,
}

impl CertificateWatch {
    /// Looks now and then, and writes to the log. `end_s` and `now_s` are seconds since 1970.
    pub(crate) fn look(&mut self, end_s: impl Fn() -> Option<u64>, now_s: u64, now: Instant) {
        let is_due = |at: Instant| now.saturating_duration_since(at) >= LOOK_EVERY;
        if !self.looked.is_none_or(is_due) {
            return;
        }
        self.looked = Some(now);
        match self.notice(end_s(), now_s, now) {
            Some(CertificateNotice::Expired) => tracing::error!(
                "TLS: the certificate in use has expired, and clients refuse it: replace its file"
            ),
            Some(CertificateNotice::Ends(days)) => {
                tracing::warn!("TLS: the certificate in use expires in {days} days");
            }
            None => {}
        }
    }

    /// Returns the line that is due, if there is one.
    pub(crate) fn notice(
        &mut self,
        end_s: Option<u64>,
        now_s: u64,
        now: Instant,
    ) -> Option<CertificateNotice> {
        let end_s = end_s?;
        let left_s = end_s.checked_sub(now_s);
        let days = left_s.map(|left_s| left_s / DAY_S);
        if days.is_some_and(|days| days >= WARNING_DAYS) {
            self.told = None;
            return None;
        }
        let is_known = self.told.is_some_and(|(told_s, was_over, at)| {
            let is_recent = now.saturating_duration_since(at) < REPEAT_EVERY;
            told_s == end_s && was_over == left_s.is_none() && is_recent
        });
        if is_known {
            return None;
        }
        self.told = Some((end_s, left_s.is_none(), now));
        Some(days.map_or(CertificateNotice::Expired, CertificateNotice::Ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_before_at_and_after_it() {
        let (mut watch, start) = (CertificateWatch::default(), Instant::now());
        let end_s = 100 * DAY_S;
        let mut at = |day: u64, after: Duration| {
            let notice = watch.notice(Some(end_s), day * DAY_S, start + after);
            notice.map(|notice| match notice {
                CertificateNotice::Ends(days) => days,
                CertificateNotice::Expired => 999,
            })
        };
        let hour = Duration::from_secs(3600);
        assert_eq!(at(69, Duration::ZERO), None);
        assert_eq!(at(71, hour), Some(29));
        assert_eq!((at(71, hour * 2), at(72, hour * 25)), (None, Some(28)));
        // The clock jumps, in either direction.
        assert_eq!((at(101, hour * 26), at(101, hour * 27)), (Some(999), None));
        assert_eq!((at(60, hour * 28), at(101, hour * 29)), (None, Some(999)));
        assert_eq!(at(101, hour * 54), Some(999));
        // A renewed one, and none.
        assert_eq!(watch.notice(Some(end_s * 2), 101 * DAY_S, start), None);
        assert_eq!(watch.notice(None, 101 * DAY_S, start), None);
    }

    #[test]
    fn it_looks_once_a_minute() {
        let (mut watch, start) = (CertificateWatch::default(), Instant::now());
        let looks = std::cell::Cell::new(0);
        for second in 0..121 {
            let end = || {
                looks.set(looks.get() + 1);
                None
            };
            watch.look(end, 0, start + Duration::from_secs(second));
        }
        assert_eq!(looks.get(), 3);
    }
}
