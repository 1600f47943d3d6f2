//! A requester that owns its texts, and the subject patterns that can be decided without an entry.

use crate::names::{NameTest, ancestor};
use crate::peer::TextTest;
use crate::requester::{Requester, Strengths};
use crate::rule::{Identity, Layer, SubjectPattern};

/// True if a clause matches the requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchResult {
    No,
    Yes,
    /// The result depends on the entry or on a group.
    Depends,
}

impl MatchResult {
    fn of(yes: bool) -> MatchResult {
        if yes {
            MatchResult::Yes
        } else {
            MatchResult::No
        }
    }
}

/// A requester that owns its texts.
#[derive(Debug)]
pub(crate) struct Subject {
    name: Box<str>,
    /// Set if it differs from `name`.
    real_name: Option<Box<str>>,
    peer: Box<str>,
    socket: Box<str>,
    url: Box<str>,
    domain: Box<str>,
    strength: Strengths,
}

impl Subject {
    pub(crate) fn new(requester: &Requester<'_>) -> Subject {
        let wire = &requester.wire;
        Subject {
            name: requester.name.into(),
            real_name: (requester.real_name != requester.name).then(|| requester.real_name.into()),
            peer: wire.peer.into(),
            socket: wire.socket.into(),
            url: wire.url.into(),
            domain: wire.domain.into(),
            strength: wire.strength,
        }
    }

    /// Returns the name in normal form; empty for an anonymous requester.
    pub(crate) fn name(&self, identity: Identity) -> &str {
        match identity {
            Identity::Effective => &self.name,
            Identity::Real => self.real_name.as_ref().unwrap_or(&self.name),
        }
    }

    /// Returns two bits: the entry with this name is that of the effective identity, that of the
    /// real identity.
    pub(crate) fn ownership_bits(&self, normal: &str) -> u64 {
        let own = |identity| {
            let name = self.name(identity);
            !name.is_empty() && name == normal
        };
        u64::from(own(Identity::Effective)) | u64::from(own(Identity::Real)) << 1
    }

    /// Matches all patterns of a clause, as far as that is possible without an entry.
    pub(crate) fn match_all(&self, patterns: &[SubjectPattern]) -> MatchResult {
        let each = patterns.iter().map(|pattern| self.match_one(pattern));
        each.fold(MatchResult::Yes, |all, one| match (all, one) {
            (MatchResult::No, _) | (_, MatchResult::No) => MatchResult::No,
            (MatchResult::Yes, MatchResult::Yes) => MatchResult::Yes,
            _ => MatchResult::Depends,
        })
    }

    /// Matches one pattern, as far as that is possible without an entry.
    pub(crate) fn match_one(&self, pattern: &SubjectPattern) -> MatchResult {
        let authenticated = |identity| !self.name(identity).is_empty();
        let later = |identity| {
            if authenticated(identity) {
                MatchResult::Depends
            } else {
                MatchResult::No
            }
        };
        match pattern {
            SubjectPattern::Anyone => MatchResult::Yes,
            SubjectPattern::Anonymous(identity) => MatchResult::of(!authenticated(*identity)),
            SubjectPattern::Users(identity) => MatchResult::of(authenticated(*identity)),
            SubjectPattern::Name(identity, NameTest::Fixed(names)) => {
                let matches = authenticated(*identity) && names.contains(self.name(*identity));
                MatchResult::of(names.is_any() || matches)
            }
            SubjectPattern::SelfEntry(identity, _)
            | SubjectPattern::Name(identity, NameTest::Expanded(..))
            | SubjectPattern::DnAttribute(identity, _) => later(*identity),
            SubjectPattern::Group(_) => later(Identity::Effective),
            SubjectPattern::Set(_) => MatchResult::Depends,
            SubjectPattern::Peer(_)
            | SubjectPattern::Socket(_)
            | SubjectPattern::Url(_)
            | SubjectPattern::Domain(_) => self
                .connection_test(pattern)
                .and_then(|(test, text)| test.test(text, None))
                .map_or(MatchResult::Depends, MatchResult::of),
            SubjectPattern::Strength(layer, wanted) => {
                MatchResult::of(self.strength(*layer) >= *wanted)
            }
        }
    }

    /// Returns the test of a pattern about the connection, and the text that it looks at.
    pub(crate) fn connection_test<'a>(
        &'a self,
        pattern: &'a SubjectPattern,
    ) -> Option<(&'a TextTest, &'a str)> {
        match pattern {
            SubjectPattern::Peer(test) => Some((test, &self.peer)),
            SubjectPattern::Socket(test) => Some((test, &self.socket)),
            SubjectPattern::Url(test) => Some((test, &self.url)),
            SubjectPattern::Domain(test) => Some((test, &self.domain)),
            _ => None,
        }
    }

    /// Tests `self` and `self.level{n}`.
    pub(crate) fn is_self(&self, identity: Identity, level: i32, target: &str) -> bool {
        let name = self.name(identity);
        let levels = level.unsigned_abs() as usize;
        if level >= 0 {
            ancestor(name, levels) == Some(target)
        } else {
            ancestor(target, levels) == Some(name)
        }
    }

    fn strength(&self, layer: Layer) -> u32 {
        match layer {
            Layer::Any => self.strength.overall,
            Layer::Transport => self.strength.transport,
            Layer::Tls => self.strength.tls,
            Layer::Sasl => self.strength.sasl,
        }
    }
}
