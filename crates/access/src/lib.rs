//! Access decisions: may this subject do this to that?.

#![forbid(unsafe_code)]
