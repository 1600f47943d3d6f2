//! Changes at a provider, and the time until a copy shows them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use fulgurite_client::{Change, Client, Scope};

use super::node::{Node, SUFFIX};

/// Connections that change entries at the same time.
const WRITERS: u64 = 8;
/// Changes each second while the lag is measured.
const PACE: u64 = 100;

fn name(number: u64) -> String {
    format!("uid=user.{number},ou=people,{SUFFIX}")
}

fn describe(client: &mut Client, dn: &str, text: &str) -> anyhow::Result<()> {
    let values = [text.as_bytes()];
    let change = Change::replace("description", &values);
    let result = client.modify(dn, &[change])?;
    ensure!(result.is_success(), "{dn}: {}", result.code.name());
    Ok(())
}

/// Changes `count` people of `people`, on several connections.
pub(super) fn modify(provider: &Node, people: u64, count: u64) -> anyhow::Result<()> {
    let next = AtomicU64::new(0);
    let work = || -> anyhow::Result<()> {
        let mut client = provider.connect()?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            // Spread over all people, each once before any comes twice.
            let person = number.wrapping_mul(7_919) % people;
            describe(&mut client, &name(person), &format!("change {number}"))?;
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })
}

/// Returns the time from a change's answer until a copy shows it. The values are the median, and
/// the time that 99 of 100 changes keep.
pub(super) fn lag(
    (provider, copy): (&Node, &Node),
    changes: u64,
) -> anyhow::Result<(Duration, Duration)> {
    let (mut writer, mut reader) = (provider.connect()?, copy.connect()?);
    let dn = name(0);
    let is_over = AtomicBool::new(false);
    let begun = Instant::now();
    let (written, seen) = thread::scope(|scope| {
        let look = || -> anyhow::Result<Vec<Duration>> {
            let mut seen = Vec::new();
            while seen.len() < changes as usize && !is_over.load(Ordering::Relaxed) {
                let found = reader.search(&dn, Scope::Base, "(objectClass=*)", &["description"])?;
                let at = begun.elapsed();
                let entry = found.entries.first().context("the entry is gone")?;
                let number = entry.first("description").unwrap_or_default();
                let number = number
                    .strip_prefix("number ")
                    .and_then(|text| text.parse().ok());
                let number: usize = number.unwrap_or(0);
                // One that shows a later change has shown those before it.
                seen.resize(seen.len().max(number), at);
            }
            Ok(seen)
        };
        let looking = scope.spawn(look);
        let mut written = Vec::new();
        let wrote = (1..=changes).try_for_each(|number| {
            let due = Duration::from_secs(number) / u32::try_from(PACE).unwrap_or(1);
            thread::sleep(due.saturating_sub(begun.elapsed()));
            describe(&mut writer, &dn, &format!("number {number}"))?;
            written.push(begun.elapsed());
            Ok::<(), anyhow::Error>(())
        });
        if wrote.is_ok() {
            let patience = Duration::from_secs(60);
            let ended = Instant::now();
            while !looking.is_finished() && ended.elapsed() < patience {
                thread::sleep(Duration::from_millis(5));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        let seen = match looking.join() {
            Ok(seen) => seen,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        wrote.and(seen).map(|seen| (written, seen))
    })?;
    ensure!(
        seen.len() == written.len(),
        "a copy does not show the last changes"
    );
    let times = seen.iter().zip(&written);
    let mut lags: Vec<Duration> = times
        .map(|(seen, done)| seen.saturating_sub(*done))
        .collect();
    lags.sort_unstable();
    let at = |percent: usize| {
        lags.get((lags.len() * percent / 100).min(lags.len() - 1))
            .copied()
    };
    Ok((at(50).unwrap_or_default(), at(99).unwrap_or_default()))
}
