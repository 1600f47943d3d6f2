//! The questions, and the expected answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, bail, ensure};
use fulgurite_ldap::{FilterBuf, ResultCode};

use crate::options::{Arguments, Kind};
use crate::pieces::{self, Pieces};
use crate::records::{self, Record};
use crate::targets::Targets;

/// Requests and the answers they have to get.
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    pub(crate) targets: Targets,
    pub(crate) seed: u64,
    pub(crate) base: String,
    pub(crate) filter: FilterBuf,
    pub(crate) password: String,
    pub(crate) group: String,
    /// The texts of substring searches.
    pub(crate) pieces: Option<Pieces>,
    /// The entries that are added as they are.
    pub(crate) records: Vec<Record>,
    /// The cn values of each entry, by its name in lower case; empty without pieces.
    names: HashMap<String, Vec<String>>,
    /// True if answers are verified.
    checks: bool,
    /// Entries of a scan; 0 until known.
    expect_entries: AtomicU64,
}

/// The verdict on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    /// The server says that it cannot.
    Error,
    /// It says that it can, and has answered something else.
    Wrong,
}

impl Workload {
    pub(crate) fn new(arguments: &Arguments, targets: Targets) -> anyhow::Result<Workload> {
        let kind = arguments.workload;
        let needs_users = !matches!(
            kind,
            Kind::Missing
                | Kind::Scan
                | Kind::Add
                | Kind::AddLdif
                | Kind::Delete
                | Kind::GroupAdd
                | Kind::Whoami
        );
        ensure!(
            !needs_users || !targets.is_empty(),
            "this workload needs an --ldif with entries that have a uid"
        );
        if kind == Kind::Bind {
            ensure!(
                arguments.password.is_some(),
                "the workload bind needs the users' --password"
            );
            ensure!(
                arguments.depth == 1,
                "binds cannot be pipelined: use --depth 1"
            );
        }
        let records = match (kind, &arguments.ldif) {
            (Kind::AddLdif, Some(path)) => records::read(path)?,
            (Kind::AddLdif, None) => bail!("this workload needs an --ldif"),
            _ => Vec::new(),
        };
        let pieces = pieces::drawn(arguments, &targets)?;
        let named = targets.named().filter(|_| pieces.is_some());
        let names = named.map(|one| (one.dn.to_ascii_lowercase(), one.cns.clone()));
        let names = names.collect();
        Ok(Workload {
            kind,
            pieces,
            records,
            names,
            targets,
            seed: arguments.seed,
            base: arguments.base.clone(),
            filter: FilterBuf::parse(&arguments.filter).context("--filter is not a filter")?,
            password: arguments.password.clone().unwrap_or_default(),
            group: arguments.group.clone(),
            checks: !arguments.unchecked,
            expect_entries: AtomicU64::new(arguments.expect_entries.unwrap_or(0)),
        })
    }

    /// Returns true if an entry fits the `n`th request.
    pub(crate) fn entry_fits(&self, n: u64, dn: &[u8]) -> bool {
        if !self.checks {
            return true;
        }
        match self.kind {
            Kind::Uid | Kind::Mail | Kind::MailServer | Kind::Substring | Kind::Base => self
                .targets
                .pick(self.seed, n)
                .is_some_and(|target| dn.eq_ignore_ascii_case(target.dn.as_bytes())),
            Kind::SubstringInitial | Kind::SubstringAny | Kind::SubstringFinal => {
                self.has_piece(n, dn)
            }
            Kind::Scan => true,
            _ => false,
        }
    }

    /// Returns true if the entry has the piece of the `n`th request.
    fn has_piece(&self, n: u64, dn: &[u8]) -> bool {
        let Some(pieces) = &self.pieces else {
            return false;
        };
        let name = String::from_utf8_lossy(dn).to_ascii_lowercase();
        let piece = pieces.of(n);
        let cns = self.names.get(&name).into_iter().flatten();
        piece.is_some_and(|piece| cns.into_iter().any(|cn| pieces.has(cn, piece)))
    }

    /// Returns how many requests there can be, of a wanted number.
    pub(crate) fn requests_max(&self, wanted: u64) -> u64 {
        match self.kind {
            Kind::AddLdif => wanted.min(self.records.len() as u64),
            _ => wanted,
        }
    }

    /// Returns the pieces that matched too many entries and were drawn again.
    pub(crate) fn rejected(&self) -> u64 {
        self.pieces.as_ref().map_or(0, |pieces| pieces.rejected)
    }

    /// Judges the result of the `n`th request after `entries` entries, which fitted or did not.
    pub(crate) fn judge(&self, n: u64, code: ResultCode, entries: u64, fits: bool) -> Verdict {
        let wanted = if self.kind == Kind::Compare {
            ResultCode::CompareTrue
        } else {
            ResultCode::Success
        };
        let is_false = self.kind == Kind::Compare && code == ResultCode::CompareFalse;
        if code != wanted && !is_false {
            Verdict::Error
        } else if self.checks && (is_false || !fits || entries != self.expected(n, entries)) {
            Verdict::Wrong
        } else {
            Verdict::Right
        }
    }

    /// How many entries there have to be.
    fn expected(&self, n: u64, entries: u64) -> u64 {
        match self.kind {
            Kind::Uid | Kind::Mail | Kind::MailServer | Kind::Substring | Kind::Base => 1,
            Kind::SubstringInitial | Kind::SubstringAny | Kind::SubstringFinal => {
                let piece = self.pieces.as_ref().and_then(|pieces| pieces.of(n));
                piece.map_or(0, |piece| piece.matches)
            }
            Kind::Scan => {
                let known = self.expect_entries.compare_exchange(
                    0,
                    entries,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                match known {
                    Ok(_) => entries,
                    Err(expected) => expected,
                }
            }
            _ => 0,
        }
    }
}
