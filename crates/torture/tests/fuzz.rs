//! The fuzz targets on their seeds, on the inputs that once broke one, and on a few mutations of
//! both.

use std::path::Path;

use fulgurite_testkit::{Random, quick_or_long, seed};
use fulgurite_torture::fuzz::TARGETS;

fn kept(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("inputs")
        .join(name);
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        println!("{}", path.display());
        std::fs::read(path).unwrap()
    };
    paths.iter().map(read).collect()
}

#[test]
fn what_broke_a_target_once_does_no_more() {
    for target in TARGETS {
        for input in kept(target.name) {
            (target.run)(&input);
        }
    }
}

#[test]
fn targets_stand_random_mutations_of_their_seeds() {
    let seed = seed("fuzz targets", 11);
    let mut random = Random::new(seed);
    for target in TARGETS {
        let mut inputs = (target.seeds)();
        inputs.extend(kept(target.name));
        assert!(!inputs.is_empty(), "{}", target.name);
        for input in &inputs {
            (target.run)(input);
        }
        for _ in 0..quick_or_long(60, 20_000) {
            let mut input = random.pick(&inputs).clone();
            mutate(&mut input, &mut random);
            (target.run)(&input);
        }
        println!("{}: {} inputs and mutations", target.name, inputs.len());
    }
}

fn mutate(input: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.between(1, 4) {
        let at = random.below(input.len());
        match random.below(5) {
            0 => input.truncate(at),
            1 => input.insert(at, random.bits() as u8),
            2 => {
                let len = random.below(40);
                let part: Vec<u8> = input.iter().skip(at).take(len).copied().collect();
                let to = random.below(input.len());
                input.splice(to..to, part);
            }
            _ => {
                let any = random.bits() as u8;
                if let Some(octet) = input.get_mut(at) {
                    *octet = *random.pick(&[0, 1, 0xff, *octet ^ 1, any]);
                }
            }
        }
    }
}

/// Each target has its file for libFuzzer, and a row in the table of programs.
#[test]
fn every_target_can_be_fuzzed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for target in TARGETS {
        let name = target.name;
        let path = format!("fuzz_targets/{name}.rs");
        let text = std::fs::read_to_string(folder.join(&path)).unwrap();
        let expected = format!("#![no_main]\nfulgurite_fuzz::target!({name});\n");
        assert_eq!(text, expected);
        let row = format!("{{ name = \"{name}\", path = \"{path}\", ");
        assert!(manifest.contains(&row), "{name}");
    }
}
