//! A short sweep: each kind of call fails, some of them at each place.

use std::process::Command;

use fulgurite_testkit::seed;

#[test]
fn failing_calls_are_survived() {
    let seed = seed("faults", 7).to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_torture"))
        .args(["fault-injection", "--quick", "--seed", &seed])
        .output()
        .expect("run the torture");
    let told = String::from_utf8_lossy(&output.stdout);
    println!("{told}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(told.contains(" 0 found; "), "no figures: {told}");
}
