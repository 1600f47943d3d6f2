//! The loop of a node, as a state machine: it has no clock, no sockets and no threads.
//!
//! ```text
//!   time: tick ------------------.      .--> questions to the log
//!   clients: update, read -------+-> Node --> answers to clients, reads to serve
//!   peers: forwarded, replied ---+   | |  `-> updates and outcomes to other nodes
//!   log: told -------------------'   | `----> wish for a copy of another node
//!                                    v
//!                                 Content: begin, commit, abort, apply
//! ```
//!
//! A node follows the log, or leads. To lead, it wins the leadership, reads the end of the log
//! behind that, and applies everything up to there. Then its sequencer makes batches. The driver
//! calls an input, then fulfils the outputs. Any of them may be lost, late or, for questions,
//! repeated: the loop asks again.

mod batches;
mod calls;
mod clock;
mod content;
mod following;
mod history;
mod leading;
mod message;
mod pause;
mod settings;
mod state;
mod updates;
mod waiting;

pub use content::{Content, Effects, Time};
pub use message::{EndUse, Forwarded, LogAnswer, Outcome, Output, Question};
pub use settings::{LogKeep, NodeSettings};
pub use state::Node;
