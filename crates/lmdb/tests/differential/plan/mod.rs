//! From a seed to a sequence of steps. The generator tracks only the slots that are probably in
//! use. The results of the calls are known when the steps run.

mod arguments;
mod bulk;
mod items;
mod transactions;

use fulgurite_testkit::Random;

use crate::profile::{Profile, SEQUENCE};
use crate::step::{CURSORS, NullCall, READERS, Step};

/// The profile and the steps of a seed.
pub(crate) fn plan(seed: u64) -> (Profile, Vec<Step>) {
    let mut random = Random::new(seed ^ 0x6c6d_6462);
    let profile = Profile::new(&mut random);
    let calls = random.between(200, 400);
    let mut planner = Planner {
        nested: random.chance(50),
        cursor_share: *random.pick(&[30, 45, 60]),
        random,
        profile: &profile,
        steps: Vec::new(),
        depth: 0,
        readers: [false; READERS],
        cursors: [None; CURSORS],
        sequence: SEQUENCE,
    };
    planner.opening();
    for _ in 0..calls {
        planner.next();
    }
    let steps = planner.steps;
    (profile, steps)
}

struct Planner<'p> {
    random: Random,
    profile: &'p Profile,
    steps: Vec<Step>,
    nested: bool,
    /// Percentage of steps that go through a cursor.
    cursor_share: usize,
    /// How many writers are stacked.
    depth: usize,
    readers: [bool; READERS],
    /// Transaction and database of each open cursor.
    cursors: [Option<(usize, usize)>; CURSORS],
    /// The next id in ascending order.
    sequence: u32,
}

impl Planner<'_> {
    fn next(&mut self) {
        if self.depth == 0 && self.random.chance(60) {
            return self.begin_writer();
        }
        match self.random.below(1000) {
            0..=69 => self.transaction_step(),
            70..=94 => self.database_step(),
            95..=109 => self.environment_step(),
            110..=114 => self.reopen(),
            115..=134 => self.bulk(),
            135..=139 => {
                let call = *self.random.pick(&[
                    NullCall::Environment,
                    NullCall::Transaction,
                    NullCall::Cursor,
                ]);
                let db = self.db();
                self.steps.push(Step::Null { call, db });
            }
            _ if self.random.chance(self.cursor_share) => self.cursor_step(),
            _ => self.item_step(),
        }
    }
}
