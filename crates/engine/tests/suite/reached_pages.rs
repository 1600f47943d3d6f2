//! The pages that a snapshot reaches, compared with the checker, which reads files independently.

use fulgurite::Environment;
use fulgurite_testkit::{Scratch, corrupt_cases, sound_fixtures};

fn open(dir: &std::path::Path) -> Option<Environment> {
    Environment::options().read_only(true).open(dir).ok()
}

/// Every page is either reached or free, in every file of every version.
#[test]
fn every_page_that_is_not_free_is_reached() {
    let scratch = Scratch::new("visit");
    for fixture in sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        let report = fulgurite::check::check_file(&dir.join("data.mdb")).expect("check");
        let environment = open(&dir).expect("open");
        let txn = environment.read().expect("read");
        let reached = txn.reached_pages().expect("a sound file");
        let all = report.last_pgno - 1;
        assert_eq!(reached.len() + report.free_pages, all, "{}", fixture.name);
        let mut before = 1;
        for page in reached.iter() {
            let (pgno, octets) = page.expect("a page of the file");
            assert!(pgno.0 > before && octets.len() == report.page_bytes);
            before = pgno.0;
        }
    }
}

/// Damage is an error, or is where a walk does not look; it ends either way.
#[test]
fn visits_of_damaged_files_end() {
    let mut errors = 0;
    let scratch = Scratch::new("visit-damaged");
    for case in corrupt_cases().0 {
        let Some(environment) = open(&case.copy_to(&scratch)) else {
            continue;
        };
        let Ok(txn) = environment.read() else {
            continue;
        };
        errors += usize::from(txn.reached_pages().is_err());
    }
    println!("{errors} damaged files were noticed");
    assert!(errors > 20, "{errors}");
}
