//! The differential test. One random sequence of calls goes to the real liblmdb and to ours,
//! through the C interface. Every result code, every value and every count must be equal. At
//! intervals each library reads the other's file.
//!
//! ```text
//!   seed --plan--> steps --run--> the same call on both --compare--> equal? next
//!                                   |            |                     no: minimise, report
//!                              real liblmdb   liblmdb of ours
//!                                   |            |
//!                                file A        file B   <-- dump: either library reads either file; our check too
//! ```
//!
//! | variable | meaning |
//! | --- | --- |
//! | `FULGURITE_TEST_SEED` | run this one seed, and minimise its difference |
//! | `FULGURITE_DIFF_STEPS` | only these steps of it (`0-4,9`): replays a minimised script |
//! | `FULGURITE_DIFF_SEEDS`, `FULGURITE_DIFF_FIRST` | how many seeds (2000), from which on (0) |
//! | `FULGURITE_DIFF_OURS`, `FULGURITE_DIFF_REFERENCE` | paths of other libraries to compare |
//! | `FULGURITE_DIFF_FAILURES` | stop after so many seeds that differ (12) |
//! | `FULGURITE_DIFF_COVERAGE` | print how often each call had each result |
//! | `FULGURITE_DIFF_SHUFFLE` | give the second library's trees another shape first: finds steps whose outcome depends on the layout when a library is compared with itself |
//!
//! The test omits calls that the interface leaves undefined, and calls that crash or corrupt the
//! reference. The files of `run` say where and why.

mod api;
mod batch;
mod child;
mod compare;
mod constants;
mod dump;
mod minimise;
mod plan;
mod profile;
mod run;
mod settings;
mod step;

use settings::Settings;

#[test]
fn both_libraries_return_the_same() {
    let settings = Settings::from_environment();
    if let Some(job) = settings.job.clone() {
        return child::run(&settings, &job);
    }
    let failures = batch::run(&settings);
    assert!(
        failures.is_empty(),
        "{} seeds differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
