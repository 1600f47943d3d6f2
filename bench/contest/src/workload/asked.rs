//! What is asked of us, as factors against the original; rows without a line here may not be slower.

/// How many times as fast one of ours has to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) workload: &'static str,
    pub(crate) ours: &'static str,
    pub(crate) asked: f64,
    pub(crate) hoped: f64,
}

const fn asked(workload: &'static str, ours: &'static str, asked: f64, hoped: f64) -> Asked {
    Asked {
        workload,
        ours,
        asked,
        hoped,
    }
}

const C: &str = "fulgurite-c";
const RUST: &str = "fulgurite";

/// One line for each of the promises.
pub(crate) const ASKED: &[Asked] = &[
    asked("get", C, 1.35, 1.5),
    asked("get-many", RUST, 2.8, 3.3),
    asked("scan", C, 2.0, 2.0),
    asked("scan", RUST, 2.0, 3.0),
    asked("range-100", C, 1.5, 2.0),
    asked("begin", C, 4.0, 8.0),
    asked("renew", C, 1.2, 2.0),
    asked("put-scattered", C, 1.5, 2.0),
    asked("overwrite", C, 1.4, 2.0),
    asked("put-single", C, 1.3, 2.0),
    asked("append", C, 1.2, 1.5),
    asked("large-fill", C, 2.0, 4.0),
    asked("sync-submit-16", RUST, 8.0, 14.0),
    asked("sync-single", C, 1.0, 1.6),
    asked("after-reader", C, 5.0, 10.0),
    asked("large-fragmented", C, 5.0, 10.0),
];
