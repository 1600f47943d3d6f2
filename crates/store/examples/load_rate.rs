//! Loads generated people into a store and measures the load and the look-ups: `load_rate [entries] [directory]`.
use fulgurite_schema::*;
use fulgurite_store::*;
use std::time::Instant;
fn main() {
    let count: usize = std::env::args()
        .nth(1)
        .map_or(100_000, |n| n.parse().unwrap());
    let dir = std::env::args()
        .nth(2)
        .map_or_else(|| std::env::temp_dir().join("fulgurite-load"), Into::into);
    let _ = std::fs::remove_dir_all(&dir);
    let schema = Schema::standard();
    let d = |name: &str| schema.describe(name.as_bytes()).unwrap();
    let descriptions: Vec<_> = [
        "objectClass",
        "cn",
        "sn",
        "givenName",
        "mail",
        "uidNumber",
        "gidNumber",
        "homeDirectory",
        "entryUUID",
        "entryCSN",
        "createTimestamp",
        "description",
    ]
    .map(d)
    .into();
    let start = Instant::now();
    let mut producing = 0.0;
    let make = |n: usize| {
        let dn = match n {
            0 => "dc=example,dc=com".to_owned(),
            1 => "ou=people,dc=example,dc=com".to_owned(),
            n => format!("uid=user{n},ou=people,dc=example,dc=com"),
        };
        let mut e = Entry::new(Dn::parse(&schema, &dn).unwrap());
        let mut put = |i: usize, v: String| e.push(&descriptions[i], v.into_bytes());
        match n {
            0 => put(0, "domain".into()),
            1 => put(0, "organizationalUnit".into()),
            n => {
                put(0, "inetOrgPerson".into());
                put(0, "posixAccount".into());
                let g = [
                    "Anna", "Bernd", "Carla", "Dieter", "Eva", "Franz", "Gerda", "Hans",
                ][n % 8];
                let s = format!("Family{}", n * 7919 % 5000);
                put(1, format!("{g} {s}"));
                put(2, s.clone());
                put(3, g.into());
                put(4, format!("{g}.{s}.{n}@example.com"));
                put(5, n.to_string());
                put(6, "100".into());
                put(7, format!("/home/user{n}"));
            }
        }
        put(8, format!("{:08x}-0000-4000-8000-{:012x}", n, n * 31));
        put(
            9,
            format!("20260101000000.{:06}Z#000000#000#000000", n % 1_000_000),
        );
        put(10, "20260101000000Z".into());
        put(11, format!("person number {n}"));
        e.add_missing_rdn_values(&schema);
        schema.check(e, &CheckOptions::default()).unwrap()
    };
    let options = StoreOptions {
        suffixes: vec!["dc=example,dc=com".into()],
        ..StoreOptions::default()
    };
    let (store, report) = load_new::<Stopped>(
        &dir,
        &options,
        schema.clone(),
        &LoadOptions::default(),
        &mut |p| {
            if !matches!(p, LoadProgress::Entries(_)) {
                eprintln!("{:.2}s {p:?}", start.elapsed().as_secs_f64())
            }
        },
        |sink| {
            for n in 0..count + 2 {
                let t = Instant::now();
                let e = make(n);
                producing += t.elapsed().as_secs_f64();
                sink.add(e, n as u64)?;
            }
            Ok(())
        },
    )
    .unwrap();
    let s = start.elapsed().as_secs_f64();
    println!(
        "{} entries in {s:.2} s, {:.0}/s; producing took {producing:.2} s",
        report.entries,
        report.entries as f64 / s
    );
    let view = store.snapshot().unwrap();
    let base = view
        .find(&Dn::parse(&schema, "ou=people,dc=example,dc=com").unwrap())
        .unwrap()
        .entry()
        .unwrap();
    let rule = schema.attribute("uid").unwrap().equality.unwrap();
    let rounds = 200_000.min(count * 2);
    let start = Instant::now();
    let (mut cache, mut text, mut bytes) = (DnCache::new(), String::new(), 0);
    for i in 0..rounds {
        let uid = format!("user{}", 2 + i * 7919 % count);
        let f = Filter::Equality(Assertion {
            attribute: d("uid"),
            rule,
            normal: rule
                .normalise_assertion(&schema, uid.as_bytes())
                .unwrap()
                .into(),
        });
        let mut c = view.plan(base, Scope::Subtree, &f).unwrap();
        while let Some(e) = c.next_entry(&view).unwrap() {
            text.clear();
            e.write_dn(&mut cache, &mut text).unwrap();
            bytes += text.len()
                + e.attributes()
                    .map(|a| a.values.iter().map(|v| v.len()).sum::<usize>())
                    .sum::<usize>();
        }
    }
    println!(
        "uid search: {:.0} ns each ({bytes})",
        start.elapsed().as_nanos() as f64 / rounds as f64
    );
    let start = Instant::now();
    let f = compile_filter(&view, Filter::Present(d("mail")));
    let mut c = view
        .plan(base, Scope::Subtree, &Filter::Present(d("description")))
        .unwrap();
    let mut n = 0;
    while let Some(e) = c.next_entry(&view).unwrap() {
        n += usize::from(f.test(&schema, &e).is_true());
    }
    println!(
        "scan of {n}: {:.0} ns each",
        start.elapsed().as_nanos() as f64 / n as f64
    );
    std::mem::forget(store);
    println!(
        "{}",
        std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .filter(|l| l.starts_with("VmHWM"))
            .collect::<String>()
    );
}
