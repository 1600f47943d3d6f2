//! Searches from which a walk begins: the common case, a database of keys with one value each in the order of octets.
//!
//! A leap goes down through the window and leaves the place on its lanes, so that the next step is a stride. Where it is not
//! possible [`Place::go`] searches; as that begins by forgetting where the place stood, a leap that gave up may have done so
//! already.

use fulgurite_format::{Octets, Page, PageKind, Pgno, V09};

use super::place::{AtValue, State};
use super::stride::{Lane, Lanes};
use super::{Place, Record};
use crate::KeyOrder;
use crate::env::Window;
use crate::tree::{Step, Tree, expect_probes};

impl Place {
    /// Goes to the first record whose key is not smaller, or `exactly` this key's. `None` where that takes more than one
    /// way down, and where there is no such record.
    #[inline]
    pub(crate) fn leap<'t>(
        &mut self,
        window: Window<'t>,
        tree: &Tree,
        key: &[u8],
        exactly: bool,
    ) -> Option<Record<'t>> {
        if tree.order != KeyOrder::Lexical || tree.has_duplicates() {
            return None;
        }
        self.lanes = Lanes::Off;
        self.state = State::Unset;
        self.path.clear();
        let sought = Octets::of(key);
        let mut pgno = tree.record.root;
        for _ in 1..tree.record.depth {
            let page = Page::<V09>::parse(window.page(pgno)?, pgno, PageKind::Branch).ok()?;
            let (index, exact) = page.place_of(1, sought)?;
            let index = index - usize::from(!exact);
            self.path.push(Step { pgno, index }).ok()?;
            pgno = page.child(index).ok()?;
            if pgno < Pgno::FIRST_DATA {
                return None;
            }
        }
        let octets = window.page(pgno)?;
        let page = Page::<V09>::parse(octets, pgno, PageKind::Leaf).ok()?;
        expect_probes(&page);
        let (index, exact) = page.place_of(0, sought)?;
        if exactly && !exact {
            return None;
        }
        let checked = page.checked();
        let record = checked.plain_entry::<V09>(octets, index as u32)?;
        self.path.push(Step { pgno, index }).ok()?;
        self.stand_on_lane(Lane::of(window, pgno, checked, index as u32));
        if exactly {
            // Who asks for one key may want no more: the first step looks ahead.
            self.look_ahead_later();
        } else {
            self.begin_to_look_ahead(window);
        }
        Some(record)
    }

    /// Stands on an entry that a search has found, to which the way leads, and whose key has one value.
    fn stand_on_lane(&mut self, lane: Lane) {
        self.forget_flags();
        self.has_values = false;
        self.has_fixed_values = false;
        self.is_parked = false;
        self.inner_leaves_passed = 0;
        self.state = State::On;
        self.value = AtValue::One;
        self.values = Lane::NONE;
        self.keys = lane;
        self.lanes = Lanes::Keys;
    }
}
