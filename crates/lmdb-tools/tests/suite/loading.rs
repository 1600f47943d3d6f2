//! Loading: dumps of either side into the other, and inputs of all kinds.

use std::path::Path;

use fulgurite_testkit::{Ended, Fixture, Random, Scratch, fixture, seed, sound_fixtures};

use crate::differences::{self, Call};
use crate::tools::{Side, directory, for_each, output, run, shown};

const SIDES: [Side; 2] = [Side::Theirs, Side::Ours];

#[test]
fn dumps_of_either_side_load_into_the_other() {
    let scratch = Scratch::new("load");
    for_each(&sound_fixtures(), |_, fixture| {
        let source = fixture.copy_to(&scratch);
        if fixture.name == "dupsort-emptyvalue" {
            // Values that 0.9.36 no longer accepts.
            let dump = output(Side::Theirs, "mdb_dump", &["."], &source, b"");
            let refused = run(
                Side::Ours,
                "mdb_load",
                &["."],
                &directory(&scratch, "refused"),
                &dump,
            );
            let said = "mdb_cursor_put failed, error -30781 MDB_BAD_VALSIZE: ";
            assert!(
                contains(&refused.stderr, said.as_bytes()),
                "{}",
                shown(&refused)
            );
            return;
        }
        let dump = dump_of(fixture, &source);
        let mut loaded = Vec::new();
        for (number, dump) in dump.iter().enumerate() {
            for side in SIDES {
                if side == Side::Theirs && contains(dump, b"\\\\") {
                    // 0.9.24 reads a doubled backslash wrongly after another escape.
                    continue;
                }
                let dir = directory(&scratch, format!("{}-{number}-{side:?}", fixture.name));
                let outcome = run(side, "mdb_load", &["."], &dir, dump);
                assert_eq!(
                    outcome.ended,
                    Ended::Exit(0),
                    "{}: {}",
                    fixture.name,
                    shown(&outcome)
                );
                loaded.push(contents(&dir));
            }
        }
        assert!(
            loaded.iter().all(|contents| *contents == loaded[0]),
            "{}",
            fixture.name
        );
        let items = |text: &[u8]| {
            text.split(|byte| *byte == b'\n')
                .filter(|line| line.starts_with(b" "))
                .count()
        };
        assert_eq!(items(&loaded[0]), items(&dump[0]), "{}", fixture.name);
    });
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Returns the dumps of both sides' tools of a file, in both formats. They hold the named databases
/// if there are any.
fn dump_of(fixture: &Fixture, dir: &Path) -> Vec<Vec<u8>> {
    let has_names = fixture
        .databases()
        .iter()
        .any(|database| database.name.is_some());
    let mut dumps = Vec::new();
    for (side, options) in [(Side::Theirs, "-"), (Side::Ours, "-"), (Side::Ours, "-p")] {
        let options = if has_names {
            format!("{options}a")
        } else {
            options.to_owned()
        };
        let words = [options.as_str(), "."];
        let words = if options == "-" { &words[1..] } else { &words };
        dumps.push(output(side, "mdb_dump", words, dir, b""));
    }
    dumps
}

/// Returns the contents of an environment, as both sides see it.
fn contents(dir: &Path) -> Vec<u8> {
    let [theirs, ours] = SIDES.map(|side| seen(side, dir));
    assert!(theirs == ours, "{}", dir.display());
    ours
}

/// Returns the contents as one side sees them: the named databases, or the main one if there are
/// none.
fn seen(side: Side, dir: &Path) -> Vec<u8> {
    // Page numbers of named databases may differ, and so may their records in the main one.
    let mut dump = run(side, "mdb_dump", &["-a", "."], dir, b"").stdout;
    if dump.is_empty() {
        dump = output(side, "mdb_dump", &["."], dir, b"");
    }
    // The system chooses the address of fixed maps.
    let lines = dump.split_inclusive(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.starts_with(b"mapaddr="))
        .flatten()
        .copied()
        .collect()
}

#[test]
fn inputs_of_all_kinds_are_loaded_alike() {
    let scratch = Scratch::new("inputs");
    let head = "VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n";
    let print = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n";
    let pair = " 61\n 62\n";
    let mut inputs: Vec<String> = [
        // Whole, truncated and wrong items.
        " 61\n 62\nDATA=END\n",
        " 61\n 62\n",
        " 61\n",
        " 61\n 6\n",
        " 61\n 6g\n",
        " 6\n 61\n",
        "\n 61\n",
        " 61\n62\nDATA=END\n",
        " 61\nDATA=END\n",
        "61\n 62\n",
        " 61\n 62",
        "  61\n 62\n",
        " 61 \n 62\n",
        " 6162\n AbCd\nDATA=END\n",
        " 61\n 62\nDATA=ENDanything\n",
        " \n 61\n",
        " 61\n \n",
        "DATA=END\n",
        "",
        " 61\n 62\n 61\n 63\nDATA=END\n",
        " 61\n 62\nDATA=END\nnonsense\n",
    ]
    .map(|items| format!("{head}{items}"))
    .to_vec();
    inputs.extend(
        [
            " a\\62\n b\\\\\nDATA=END\n",
            " a\\6\n b\n",
            " a\\zz\n b\n",
            " a\\Ab\n b\\aB\n",
            " a\n b\n",
            " \n b\n",
            " a\n \n",
            " a\r\n b\r\n",
            " a\tb\n \x7f\n",
        ]
        .map(|items| format!("{print}{items}")),
    );
    inputs.extend(
        [
            "",
            "\n",
            "nonsense\n",
            "nonsense=1\nHEADER=END\n",
            "VERSION=4\nHEADER=END\n",
            "VERSION=x\nHEADER=END\n",
            "VERSION=2.5\nHEADER=END\n",
            "VERSION=3\nformat=foo\n",
            "VERSION=3\ntype=hash\nHEADER=END\n",
            "HEADER=END\n",
            "VERSION=3\nmapsize=abc\nHEADER=END\n",
            "VERSION=3\nmapsize=\nHEADER=END\n",
            "VERSION=3\nmaxreaders=abc\nHEADER=END\n",
            "VERSION=3\nmaxreaders=0\nHEADER=END\n",
            "VERSION=3\nmaxreaders=7\nHEADER=END\n",
            "VERSION=3\nmapsize=0\nHEADER=END\n",
            "VERSION=3\nmapsize=20480\nHEADER=END\n",
            "VERSION=3\nmapsize=1048576foo\nHEADER=END\n",
            "VERSION=3\nduplicates=1\ndb_pagesize=4096\nfoo=bar\nHEADER=END\n",
            "VERSION=3\n=1\nHEADER=END\n",
            "VERSION=3\nHEADER=END",
            "VERSION=3\nHEADER\n",
            "VERSION=3\nHEADER=FOO\n",
            "VERSION=3\nHEADER=ENDanything\n",
            "VERSION=3\n VERSION=3\nHEADER=END\n",
            "VERSION=3\ndupsort\nHEADER=END\n",
            "VERSION=3\nDUPSORT=1\nHEADER=END\n",
            "VERSION=3\nformat=bytevaluefoo\nHEADER=END\n",
            "VERSION=3\ntype=btreefoo\nHEADER=END\n",
            "VERSION=3\ndatabase=a=b\nHEADER=END\n",
            "VERSION=3\ndatabase=\nHEADER=END\n",
            "VERSION=3\ndupsort=0\nHEADER=END\n 61\n 63\n",
            "VERSION=3\ndupsort=1\nHEADER=END\n 61\n 62\n",
        ]
        .map(|header| format!("{header}{pair}DATA=END\n")),
    );
    inputs.extend([
        format!("{head} {}\n 61\nDATA=END\n", "61".repeat(600)),
        format!("{head} 61\n {}\nDATA=END\n", "61".repeat(600_000)),
        format!("{head} 61\n {}\nDATA=END\n", "61".repeat(2 << 20)),
        format!("VERSION=3\ndupsort=1\nHEADER=END\n 61\n {}\nDATA=END\n", "61".repeat(600)),
        format!("{head}{pair}DATA=END\nVERSION=3\ndatabase=foo\nHEADER=END\n 63\n 64\nDATA=END\n"),
        format!("{head}{pair}DATA=END\n\nVERSION=3\nHEADER=END\n 63\n 64\nDATA=END\n"),
        format!("VERSION=3\ndatabase=foo\ndupsort=1\nHEADER=END\n{pair}{pair}DATA=END\nVERSION=3\nHEADER=END\n 63\n 64\nDATA=END\n"),
        format!("VERSION=3\ndatabase=foo\ndupsort=1\nHEADER=END\n{pair}DATA=END\nVERSION=3\ndatabase=bar\nHEADER=END\n 63\n 64\nDATA=END\n"),
        format!("VERSION=3\ndupsort=1\nHEADER=END\n{pair}DATA=END\nVERSION=3\ndatabase=bar\nHEADER=END\n{pair}DATA=END\n"),
    ]);
    for_each(&inputs, |number, input| {
        compare_loads(&scratch, &number.to_string(), &["."], input);
        if number % 3 == 0 {
            compare_loads(&scratch, &format!("{number}-N"), &["-N", "."], input);
            compare_loads(
                &scratch,
                &format!("{number}-s"),
                &["-s", "some", "."],
                input,
            );
        }
    });
    let plain_text = [
        "a\nb\nc\nd\n",
        "a\nb\nc\n",
        "",
        "\nb\n",
        "a\n\n",
        "a\\41\nb\\\\x\n",
        "a\\4\nb\n",
        "a\nb",
        "DATA=END\nx\n",
    ];
    for_each(&plain_text, |number, input| {
        compare_loads(&scratch, &format!("{number}-T"), &["-T", "."], input);
        compare_loads(
            &scratch,
            &format!("{number}-Ts"),
            &["-T", "-s", "some", "."],
            input,
        );
    });
}

/// Loads an input with both sides' tools, each into its own directory, and compares outputs and
/// contents.
fn compare_loads(scratch: &Scratch, name: &str, words: &[&str], input: &str) {
    let [theirs, ours] = SIDES.map(|side| {
        let dir = directory(scratch, format!("{name}-{side:?}"));
        (run(side, "mdb_load", words, &dir, input.as_bytes()), dir)
    });
    let call = Call {
        tool: "mdb_load",
        words,
        dir: &theirs.1,
        input: input.as_bytes(),
    };
    let (expected, differences) = differences::applied(call, theirs.0.clone());
    assert!(
        ours.0 == expected,
        "mdb_load {words:?} of {:?}\nours: {}\nexpected: {}\ndifferences: {differences:?}",
        input.get(..300).unwrap_or(input),
        shown(&ours.0),
        shown(&expected),
    );
    if ours.0.ended == theirs.0.ended && ours.1.join("data.mdb").exists() {
        assert!(
            seen(Side::Ours, &ours.1) == seen(Side::Ours, &theirs.1),
            "mdb_load {words:?} of {input:?}"
        );
    }
}

/// The original has -a since 0.9.30, so only ours is tested.
#[test]
fn appending_takes_the_order_of_the_input() {
    let scratch = Scratch::new("append");
    let dir = directory(&scratch, "sorted");
    let source = fixture("random-10k").copy_to(&scratch);
    let dump = output(Side::Theirs, "mdb_dump", &["."], &source, b"");
    let outcome = run(Side::Ours, "mdb_load", &["-a", "."], &dir, &dump);
    assert_eq!(outcome.ended, Ended::Exit(0), "{}", shown(&outcome));
    assert!(contents(&dir) == contents(&source));

    let dir = directory(&scratch, "duplicates");
    let source = fixture("reversedup").copy_to(&scratch);
    let dump = output(Side::Theirs, "mdb_dump", &["."], &source, b"");
    let outcome = run(Side::Ours, "mdb_load", &["-a", "."], &dir, &dump);
    assert_eq!(outcome.ended, Ended::Exit(0), "{}", shown(&outcome));
    assert!(contents(&dir) == contents(&source));

    // Only the program that made this order can look keys up; the tools must not try.
    let dir = directory(&scratch, "unsorted");
    let mut random = Random::new(seed("append", 3));
    let items: String = (0..2000)
        .map(|_| format!("{:016x}\nvalue\n", random.bits()))
        .collect();
    let outcome = run(
        Side::Ours,
        "mdb_load",
        &["-aT", "."],
        &dir,
        items.as_bytes(),
    );
    assert_eq!(outcome.ended, Ended::Exit(0), "{}", shown(&outcome));
    let dump = output(Side::Theirs, "mdb_dump", &["-p", "."], &dir, b"");
    let dumped = String::from_utf8_lossy(&dump).replace("\n ", "\n");
    assert!(dumped.contains(&items));
}

#[test]
fn loading_adds_to_existing_databases() {
    let scratch = Scratch::new("again");
    let source = fixture("named").copy_to(&scratch);
    let dump = output(Side::Theirs, "mdb_dump", &["-a", "."], &source, b"");
    let [theirs, ours] = SIDES.map(|side| {
        let dir = directory(&scratch, format!("{side:?}"));
        for words in [&["."][..], &["-N", "."], &["."]] {
            let outcome = run(side, "mdb_load", words, &dir, &dump);
            assert_eq!(outcome.ended, Ended::Exit(0), "{}", shown(&outcome));
        }
        contents(&dir)
    });
    assert!(theirs == ours);
    assert!(ours == contents(&source));
}

#[test]
fn a_file_without_a_directory_is_made_with_n() {
    let scratch = Scratch::new("load-n");
    for side in SIDES {
        let name = format!("{side:?}.mdb");
        output(
            side,
            "mdb_load",
            &["-n", "-T", &name],
            scratch.path(),
            b"a\nb\n",
        );
        for reader in SIDES {
            let dump = output(
                reader,
                "mdb_dump",
                &["-n", "-p", &name],
                scratch.path(),
                b"",
            );
            assert!(String::from_utf8_lossy(&dump).contains("\n a\n b\nDATA=END\n"));
        }
        assert!(scratch.join(&format!("{name}-lock")).exists());
    }
}
