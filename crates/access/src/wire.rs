//! The requester as kept through an operation, and what of the rules can be decided knowing nothing else.

use crate::evaluate::Fits;
use crate::names::{NameTest, ancestor};
use crate::peer::TextTest;
use crate::requester::{Requester, Strengths};
use crate::rule::{GroupName, Layer, Which, Who};

/// A requester that owns its texts.
#[derive(Debug)]
pub(crate) struct Asker {
    name: Box<str>,
    /// Where it differs.
    real_name: Option<Box<str>>,
    peer: Box<str>,
    socket: Box<str>,
    url: Box<str>,
    domain: Box<str>,
    strength: Strengths,
}

impl Asker {
    pub(crate) fn new(requester: &Requester<'_>) -> Asker {
        let wire = &requester.wire;
        Asker {
            name: requester.name.into(),
            real_name: (requester.real_name != requester.name).then(|| requester.real_name.into()),
            peer: wire.peer.into(),
            socket: wire.socket.into(),
            url: wire.url.into(),
            domain: wire.domain.into(),
            strength: wire.strength,
        }
    }

    /// The name, in normal form; empty when anonymous.
    pub(crate) fn name(&self, which: Which) -> &str {
        match which {
            Which::Effective => &self.name,
            Which::Real => self.real_name.as_ref().unwrap_or(&self.name),
        }
    }

    /// Two bits: whether that is the requester's own entry, by the one name and by the other.
    pub(crate) fn whose(&self, normal: &str) -> u64 {
        let own = |which| {
            let name = self.name(which);
            !name.is_empty() && name == normal
        };
        u64::from(own(Which::Effective)) | u64::from(own(Which::Real)) << 1
    }

    /// Whether all conditions of a clause are met, as far as that can be said without an entry.
    pub(crate) fn fits(&self, who: &[Who]) -> Fits {
        let each = who.iter().map(|who| self.fits_one(who));
        each.fold(Fits::Yes, |all, one| match (all, one) {
            (Fits::No, _) | (_, Fits::No) => Fits::No,
            (Fits::Yes, Fits::Yes) => Fits::Yes,
            _ => Fits::Depends,
        })
    }

    pub(crate) fn fits_one(&self, who: &Who) -> Fits {
        let authenticated = |which| !self.name(which).is_empty();
        let later = |which| {
            if authenticated(which) {
                Fits::Depends
            } else {
                Fits::No
            }
        };
        match who {
            Who::Anyone => Fits::Yes,
            Who::Anonymous(which) => Fits::of(!authenticated(*which)),
            Who::Users(which) => Fits::of(authenticated(*which)),
            Who::Name(which, NameTest::Fixed(names)) => {
                let fits = authenticated(*which) && names.contains(self.name(*which));
                Fits::of(names.is_any() || fits)
            }
            Who::Itself(which, _)
            | Who::Name(which, NameTest::Expanded(..))
            | Who::Named(which, _) => later(*which),
            Who::Group(_) => later(Which::Effective),
            Who::Set(_) => Fits::Depends,
            Who::Peer(_) | Who::Socket(_) | Who::Url(_) | Who::Domain(_) => self
                .end(who)
                .and_then(|(test, text)| test.test(text, None))
                .map_or(Fits::Depends, Fits::of),
            Who::Strength(layer, wanted) => Fits::of(self.strength(*layer) >= *wanted),
        }
    }

    /// The test of a condition on the connection, and the text it looks at.
    pub(crate) fn end<'a>(&'a self, who: &'a Who) -> Option<(&'a TextTest, &'a str)> {
        match who {
            Who::Peer(test) => Some((test, &self.peer)),
            Who::Socket(test) => Some((test, &self.socket)),
            Who::Url(test) => Some((test, &self.url)),
            Who::Domain(test) => Some((test, &self.domain)),
            _ => None,
        }
    }

    /// `self` and `self.level{n}`.
    pub(crate) fn is_itself(&self, which: Which, level: i32, target: &str) -> bool {
        let name = self.name(which);
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

impl Who {
    /// Whether the same requester may fit for one entry and not for another.
    pub(crate) fn depends_on_entry(&self) -> bool {
        match self {
            Who::Anyone
            | Who::Anonymous(_)
            | Who::Users(_)
            | Who::Name(_, NameTest::Fixed(_))
            | Who::Strength(..) => false,
            Who::Itself(..)
            | Who::Name(_, NameTest::Expanded(..))
            | Who::Named(..)
            | Who::Set(_) => true,
            Who::Group(group) => matches!(group.name, GroupName::Expanded(_)),
            Who::Peer(test) | Who::Socket(test) | Who::Url(test) | Who::Domain(test) => {
                matches!(
                    test,
                    TextTest::Expanded(_)
                        | TextTest::RegexExpanded(_)
                        | TextTest::DomainExpanded(_)
                )
            }
        }
    }
}
