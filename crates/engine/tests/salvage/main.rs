//! Salvage: what is on undamaged pages comes back, nothing is made up, and the result is sound.

mod contents;
mod random;
mod raw;
mod single;
