//! The work of a search per candidate: name look-ups, comparisons, names. `cargo bench -p
//! fulgurite-schema`.
//!
//! On a busy machine, count instructions instead of time. Run it under `valgrind --tool=callgrind`
//! with FULGURITE_BENCH_ONLY set to one line. Set FULGURITE_BENCH_ROUNDS to two different numbers;
//! the difference of the counts is the cost of the rounds.

use std::hint::black_box;
use std::time::Instant;

use fulgurite_schema::{Dn, MatchingRule, Schema};

/// Rounds of each; `FULGURITE_BENCH_ROUNDS` says otherwise, for counting instructions.
const ROUNDS: u32 = 2_000_000;

fn measure(what: &str, mut once: impl FnMut()) {
    let setting = |name: &str| std::env::var(name).ok();
    if setting("FULGURITE_BENCH_ONLY").is_some_and(|only| only != what) {
        return;
    }
    let rounds = setting("FULGURITE_BENCH_ROUNDS").and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    let start = Instant::now();
    for _ in 0..rounds {
        once();
    }
    println!(
        "{what:<44} {:>8.1} ns",
        start.elapsed().as_nanos() as f64 / f64::from(rounds)
    );
}

fn main() {
    let schema = Schema::standard();
    let rule = |name| MatchingRule::find(name).expect("a built-in rule");
    let (ignore, names) = (rule("caseIgnoreMatch"), rule("distinguishedNameMatch"));
    let classes = rule("objectIdentifierMatch");
    let pieces = rule("caseIgnoreSubstringsMatch").substring_assertion(
        Some(b"jo"),
        [&b"n do"[..]].into_iter(),
        Some(b"e"),
    );
    let pieces = pieces.expect("plain pieces");
    let member = b"uid=user.12345,ou=People,dc=example,dc=com";
    let member_normal = names
        .normalise(&*schema, member)
        .expect("a name")
        .into_owned();

    measure("attribute by name", || {
        black_box(schema.attribute(black_box("telephoneNumber")));
    });
    measure("describe with option", || {
        black_box(schema.describe(black_box(b"cn;lang-de")).ok());
    });
    measure("caseIgnoreMatch, equal", || {
        black_box(ignore.matches(&*schema, black_box(b"john doe"), black_box(b"John Doe")));
    });
    measure("caseIgnoreMatch, different", || {
        black_box(ignore.matches(&*schema, black_box(b"john doe"), black_box(b"Jane Roe")));
    });
    measure("caseIgnoreMatch, not ASCII", || {
        black_box(ignore.matches(
            &*schema,
            black_box("jörg doe".as_bytes()),
            black_box("Jörg Doe".as_bytes()),
        ));
    });
    measure("caseIgnoreSubstringsMatch", || {
        black_box(rule_matches(&schema, &pieces));
    });
    measure("objectIdentifierMatch", || {
        black_box(classes.matches(&*schema, black_box(b"2.5.6.6"), black_box(b"inetOrgPerson")));
    });
    measure("distinguishedNameMatch, equal", || {
        black_box(names.matches(&*schema, black_box(&member_normal), black_box(member)));
    });
    measure("distinguishedNameMatch, normalise", || {
        black_box(names.normalise(&*schema, black_box(member)).ok());
    });
    measure("Dn::parse", || {
        black_box(
            Dn::parse(
                &schema,
                black_box("uid=user.12345,ou=People,dc=example,dc=com"),
            )
            .ok(),
        );
    });
}

fn rule_matches(
    schema: &Schema,
    pieces: &fulgurite_schema::SubstringAssertion,
) -> fulgurite_schema::Truth {
    let rule = MatchingRule::all()
        .iter()
        .find(|rule| rule.oid == "2.5.13.4")
        .expect("a built-in rule");
    rule.substring_matches(schema, pieces, black_box(b"John Doe"))
}
