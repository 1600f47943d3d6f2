//! Dumps next to the tools of Berkeley DB and GDBM, both ways; wrong dumps and their lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fulgurite::{Database, Environment, Snapshot as _};
use fulgurite_engine_tools::{
    DumpError, DumpFormat, DumpLoad, DumpWrite, LoadedDatabase, load_dump, write_dump,
};
use fulgurite_testkit::{Random, Scratch, quick_or_long, require_tool, seed};

/// Records in the order of their keys; values of a key in their order.
type Content = Vec<(Vec<u8>, Vec<u8>)>;

fn load(path: &Path, dump: &[u8]) -> Result<Vec<LoadedDatabase>, DumpError> {
    let choices = DumpLoad {
        path,
        name: None,
        keeps: false,
        no_subdir: false,
    };
    load_dump(choices, &mut &dump[..])
}

fn written(path: &Path, name: Option<&str>, format: DumpFormat) -> Vec<u8> {
    let mut out = Vec::new();
    write_dump(DumpWrite { path, name, format }, &mut out).expect("a dump");
    out
}

fn content(path: &Path, name: Option<&str>) -> Content {
    let environment = Environment::options()
        .read_only(true)
        .open(path)
        .expect("an environment");
    let txn = environment.read().expect("a snapshot");
    let database = match name {
        Some(name) => txn.open_named(name.as_bytes()).expect("a database"),
        None => Database::MAIN,
    };
    let mut cursor = txn.cursor(database).expect("a cursor");
    let mut content = Content::new();
    while let Some((key, value)) = cursor.next().expect("a record") {
        content.push((key.to_vec(), value.to_vec()));
    }
    content
}

/// Runs a program with an input. Returns its output.
fn run(program: &str, arguments: &[&str], input: &[u8], scratch: &Scratch) -> Vec<u8> {
    let file = scratch.join("input");
    std::fs::write(&file, input).expect("a file");
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::from(File::open(&file).expect("a file")))
        .output()
        .expect("a program");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    output.stdout
}

/// Makes records with all kinds of bytes, some of them long.
fn records(random: &mut Random) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let count = random.below(quick_or_long(200, 5_000));
    let records = (0..count).map(|_| {
        let (key, value) = (random.between(1, 60), random.below(300));
        let value = if random.chance(3) { value * 50 } else { value };
        (random.bytes(key), random.bytes(value))
    });
    records.collect()
}

/// Makes an environment with some records, and closes it.
fn filled(folder: PathBuf, records: &BTreeMap<Vec<u8>, Vec<u8>>) -> PathBuf {
    std::fs::create_dir(&folder).expect("a folder");
    let environment = Environment::options()
        .open(&folder)
        .expect("an environment");
    let mut txn = environment.write().expect("a transaction");
    for (key, value) in records {
        txn.put(Database::MAIN, key, value).expect("a put");
    }
    txn.commit().expect("a commit");
    folder
}

#[test]
fn databases_of_berkeley_db_come_and_go() {
    require_tool("db5.3_dump", "-V", "db5.3-util");
    require_tool("db5.3_load", "-V", "db5.3-util");
    let mut random = Random::new(seed("databases_of_berkeley_db_come_and_go", 1));
    for round in 0..quick_or_long(12, 200) {
        let scratch = Scratch::new("dumps");
        let records = records(&mut random);
        let expected: Content = records.clone().into_iter().collect();
        // Ours, as both formats, through Berkeley DB and back.
        let first = filled(scratch.join("first"), &records);
        let format = *random.pick(&[DumpFormat::ByteValue, DumpFormat::Print]);
        let kind = *random.pick(&["btree", "hash"]);
        let mut dump = written(&first, None, format);
        if kind == "hash" {
            let text = String::from_utf8(dump).expect("text");
            dump = text.replacen("type=btree", "type=hash", 1).into_bytes();
        }
        let file = scratch.join("theirs.db").display().to_string();
        run("db5.3_load", &[&file], &dump, &scratch);
        let print = if random.chance(50) { "-p" } else { "-k" };
        let theirs = run("db5.3_dump", &[print, &file], b"", &scratch);
        let second = scratch.join("second");
        let loaded = load(&second, &theirs).expect("a load");
        assert_eq!(loaded[0].stored, records.len() as u64, "round {round}");
        assert_eq!(content(&second, None), expected, "round {round}, {kind}");
    }
}

#[test]
fn duplicates_numbers_and_several_databases_are_kept() {
    require_tool("db5.3_load", "-V", "db5.3-util");
    let scratch = Scratch::new("dumps");
    let file = scratch.join("many.db").display().to_string();
    let dump = b"VERSION=3\nformat=print\ndatabase=two\ntype=btree\nduplicates=1\ndupsort=1\n\
        HEADER=END\n k\n 2\n k\n 1\n l\n \\\\\\00\nDATA=END\n\
        VERSION=3\nformat=bytevalue\ndatabase=hashed\ntype=hash\nHEADER=END\n 6b\n 76\nDATA=END\n";
    run("db5.3_load", &[&file], dump, &scratch);
    let theirs = run("db5.3_dump", &[&file], b"", &scratch);
    let path = scratch.join("environment");
    let mut loaded = load(&path, &theirs).expect("a load");
    loaded.sort_by(|one, other| one.name.cmp(&other.name));
    let names: Vec<_> = loaded.iter().map(|one| one.name.clone()).collect();
    assert_eq!(names, [Some(b"hashed".to_vec()), Some(b"two".to_vec())]);
    let pair = |key: &[u8], value: &[u8]| (key.to_vec(), value.to_vec());
    let two = [pair(b"k", b"1"), pair(b"k", b"2"), pair(b"l", b"\\\0")];
    assert_eq!(content(&path, Some("two")), two);
    assert_eq!(content(&path, Some("hashed")), [pair(b"k", b"v")]);
    // Both databases go back.
    let again = scratch.join("again.db").display().to_string();
    let ours = written(&path, None, DumpFormat::Print);
    run("db5.3_load", &[&again], &ours, &scratch);
    let names = run("db5.3_dump", &["-l", &again], b"", &scratch);
    assert_eq!(String::from_utf8_lossy(&names), "hashed\ntwo\n");
    // Numbers of records are integer keys, with or without their keys in the dump.
    let lines = scratch.join("lines.db").display().to_string();
    run(
        "db5.3_load",
        &["-T", "-t", "recno", &lines],
        b"a\nb\n\nd\n",
        &scratch,
    );
    let number = |number: u32, value: &[u8]| pair(&number.to_ne_bytes(), value);
    let expected = [
        number(1, b"a"),
        number(2, b"b"),
        number(3, b""),
        number(4, b"d"),
    ];
    for (at, options) in [&["-p"][..], &["-k"]].into_iter().enumerate() {
        let theirs = run("db5.3_dump", &[options, &[&lines]].concat(), b"", &scratch);
        let path = scratch.join(&format!("numbers{at}"));
        load(&path, &theirs).expect("a load");
        assert_eq!(content(&path, None), expected);
        let back = scratch.join(&format!("back{at}.db")).display().to_string();
        let ours = written(&path, None, DumpFormat::ByteValue);
        run("db5.3_load", &[&back], &ours, &scratch);
        let same = run("db5.3_dump", &["-k", &back], b"", &scratch);
        assert_eq!(same, run("db5.3_dump", &["-k", &lines], b"", &scratch));
    }
}

#[test]
fn databases_of_gdbm_come_and_go() {
    require_tool("gdbm_dump", "-V", "gdbmtool");
    let mut random = Random::new(seed("databases_of_gdbm_come_and_go", 1));
    for round in 0..quick_or_long(12, 200) {
        let scratch = Scratch::new("dumps");
        let records = records(&mut random);
        let expected: Content = records.clone().into_iter().collect();
        let first = filled(scratch.join("first"), &records);
        let file = scratch.join("theirs.gdbm").display().to_string();
        let dump = scratch.join("dump").display().to_string();
        std::fs::write(&dump, written(&first, None, DumpFormat::Gdbm)).expect("a file");
        run("gdbm_load", &["--no-meta", &dump, &file], b"", &scratch);
        let theirs = run("gdbm_dump", &[&file, "-"], b"", &scratch);
        let second = scratch.join("second");
        load(&second, &theirs).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(content(&second, None), expected, "round {round}");
    }
}

#[test]
fn a_wrong_dump_is_named_with_its_line_and_loads_nothing() {
    let head = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n";
    let gdbm = "# GDBM dump file\n#:version=1.1\n# End of header\n";
    let long = format!("{head} {}\n x\nDATA=END\n", "k".repeat(600));
    for (dump, expected) in [
        ("", "line 1: the input is empty"),
        (
            "foo\n",
            "line 1: this is no dump of db5.3_dump or gdbm_dump",
        ),
        (
            "VERSION=4\n",
            "line 1: VERSION=4 is not supported; give up to 3",
        ),
        (
            "VERSION=3\nformat=xml\n",
            "line 2: format=xml is neither bytevalue nor print",
        ),
        (
            "VERSION=3\ntype=heap\n",
            "line 2: type=heap is not supported; known are btree, hash, recno and queue",
        ),
        ("VERSION=3\nfoo\n", "line 2: \"foo\" is no line of a header"),
        (
            "VERSION=3\nfoo=1\n",
            "line 2: unknown keyword \"foo\" in a header",
        ),
        (
            "VERSION=3\nreversekey=1\n",
            "line 2: mdb_dump wrote reversekey; load this with mdb_load",
        ),
        (
            "VERSION=3\ntype=btree\nkeys=0\nHEADER=END\n",
            "line 4: keys=0 leaves out the keys; make the dump with them",
        ),
        (
            "VERSION=3\nformat=print\n",
            "line 2: the input ends in a header",
        ),
        (
            &format!("{head} a\n b\n c\nDATA=END\n"),
            "line 8: the last key has no value",
        ),
        (
            &format!("{head} a\n b\n"),
            "line 6: the input ends before DATA=END",
        ),
        (
            &format!("{head} a\n b\\g0\nDATA=END\n"),
            "line 6: the text is not of format=print",
        ),
        (
            &format!("{head} a\nb\nDATA=END\n"),
            "line 6: a line of a record begins with a blank",
        ),
        (
            &long,
            "line 6: a key of 600 bytes was given; keys have 1 to 511",
        ),
        (
            &format!("{head} \n b\nDATA=END\n"),
            "line 6: a key of 0 bytes was given; keys have 1 to 511",
        ),
        (
            "VERSION=3\ntype=recno\nkeys=1\nHEADER=END\n 31\n 61\n 78\n 61\nDATA=END\n",
            "line 7: the key is no number of a record",
        ),
        (
            &format!("{head}DATA=END\nfoo=1\n"),
            "line 6: a database begins with VERSION=3",
        ),
        (
            "# GDBM dump file\nfoo\n",
            "line 2: a line of the header begins with #",
        ),
        (
            "# GDBM dump file\n#:version=2.0\n",
            "line 2: version 2.0 is not supported",
        ),
        (
            &format!("{gdbm}#:len=x\n"),
            "line 4: the length is no number",
        ),
        (
            &format!("{gdbm}#:len=3\nYWJj\n#:len=2\nYWJj\n# End of data\n"),
            "line 8: 3 bytes came, and 2 were announced",
        ),
        (
            &format!("{gdbm}#:len=3\nYWJ\n# End of data\n"),
            "line 6: the text above is no base64",
        ),
        (
            &format!("{gdbm}#:len=3\nYWJj\n# End of data\n"),
            "line 6: the last key has no value",
        ),
        (
            &format!("{gdbm}#:count=7\n# End of data\n"),
            "line 4: 0 records came before this count",
        ),
        (
            &format!("{gdbm}#:count=0\n"),
            "line 4: the input ends before \"# End of data\"",
        ),
        (
            "!\r\n! GDBM FLAT FILE DUMP\r\n",
            "line 1: this dump of GDBM is binary; use gdbm_dump --format=ascii",
        ),
    ] {
        let scratch = Scratch::new("dumps");
        let path = scratch.join("environment");
        let error = load(&path, dump.as_bytes()).expect_err(expected);
        assert_eq!(error.to_string(), expected, "{dump:?}");
        if path.join("data.mdb").exists() {
            assert_eq!(content(&path, None), [], "{dump:?}");
        }
    }
}

#[test]
fn records_that_exist_are_replaced_or_kept() {
    let scratch = Scratch::new("dumps");
    let dump = |value: &str| {
        format!("VERSION=3\nformat=print\ntype=btree\nHEADER=END\n k\n {value}\nDATA=END\n")
    };
    load(scratch.path(), dump("old").as_bytes()).expect("a load");
    for (keeps, value, outcome) in [(true, "old", (0, 1)), (false, "new", (1, 0))] {
        let choices = DumpLoad {
            path: scratch.path(),
            name: None,
            keeps,
            no_subdir: false,
        };
        let loaded = load_dump(choices, &mut dump("new").as_bytes()).expect("a load");
        assert_eq!((loaded[0].stored, loaded[0].kept), outcome);
        let expected = [(b"k".to_vec(), value.as_bytes().to_vec())];
        assert_eq!(content(scratch.path(), None), expected);
    }
}

#[test]
fn damaged_dumps_are_errors_or_other_records() {
    let mut random = Random::new(seed("damaged_dumps_are_errors_or_other_records", 1));
    let dumps: [&[u8]; 2] = [
        b"VERSION=3\nformat=print\ntype=btree\nduplicates=1\nHEADER=END\n a\n b\\0a\n a\n c\nDATA=END\n",
        b"# GDBM dump file\n#:version=1.1\n# End of header\n#:len=1\nYQ==\n#:len=3\nYWJj\n#:count=1\n# End of data\n",
    ];
    for _ in 0..quick_or_long(600, 50_000) {
        let mut dump = random.pick(&dumps).to_vec();
        for _ in 0..random.between(1, 4) {
            let at = random.below(dump.len());
            match random.below(3) {
                0 => dump[at] = random.bits() as u8,
                1 if dump.len() > 1 => drop(dump.remove(at)),
                _ => dump.truncate(at.max(1)),
            }
        }
        let scratch = Scratch::new("dumps");
        // No panic is what counts.
        let _ = load(scratch.path(), &dump);
    }
}
