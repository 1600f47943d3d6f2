//! Mutated files, walked and written to.
//!
//! ```text
//!   seed, number --draw--> mutation of a base --bytes--> data.mdb (and sometimes a lock file in use)
//!                                                            |
//!                          question "number seed"            v
//!            parent  --------------------------------->   child: opens, reads everything every way, changes,
//!              ^                                                 copies, checks, opens again
//!              |     "number calls errors .."    or death, or silence
//!              '--------------------------------------------'
//! ```
//!
//! Subjects are our engine by its own interface, our `liblmdb.so` and real ones by the C interface.
//! All get the same mutations. A library may return an error or data for any bytes. It may not
//! crash, hang, or damage a sound file.

mod bases;
mod child;
mod crafted;
mod draw;
mod fields;
mod lock_file;
mod mutation;
mod options;
mod run;
mod subject;
mod tally;
mod walk;
mod walk_counts;
mod walk_read;
mod walk_write;

pub use bases::{Base, all as all_bases};
pub use draw::draw;
pub use fields::{Field, Kind};
pub use mutation::{Edit, Mutation};
pub use options::{Options, run};
pub use run::{Failure, Outcome, Plan, default_scratch, minimise, run as run_plan};
pub use subject::Subject;
pub use tally::{Fate, SubjectTally};
pub use walk::walk;
pub use walk_counts::WalkCounts;
