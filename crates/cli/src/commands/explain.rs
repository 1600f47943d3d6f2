//! `fulgurite explain`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use fulgurite_directory_tools::{ExplainOptions, explain};
use fulgurite_ldap::FilterBuf;
use fulgurite_schema::Dn;
use fulgurite_store::{Scope, Store, StoreOptions};

use crate::arguments::tools::{ExplainScope, ExplainSearch};

pub(crate) fn run(command: ExplainSearch) -> anyhow::Result<()> {
    let settings = command.flags.settings()?;
    let schema = Arc::new(fulgurite_server::schema(&settings)?);
    let text = &command.filter;
    let filter = FilterBuf::parse(text).with_context(|| format!("filter {text}"))?;
    let scope = match command.scope {
        ExplainScope::Base => Scope::Base,
        ExplainScope::One => Scope::OneLevel,
        ExplainScope::Sub => Scope::Subtree,
        ExplainScope::Children => Scope::Subordinates,
    };
    let parsed = |text: &String| {
        let name = Dn::parse(&schema, text);
        name.with_context(|| format!("name {text}"))
    };
    let mut base = command.base.as_ref().map(parsed).transpose()?;
    // As in the server, a default replaces the empty base.
    if scope != Scope::Base
        && base.as_ref().is_some_and(Dn::is_root)
        && let Some(default) = &settings.global.default_search_base.value
    {
        base = Some(parsed(default)?);
    }
    let options = ExplainOptions { base, scope };
    let open = StoreOptions {
        read_only: true,
        ..StoreOptions::default()
    };
    let store = Store::open(settings.data()?, &open, schema)?;
    let explanation = explain(&store, &options, &filter)?;
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>10}  filter",
        "expected", "looked at", "found", "planning", "reading"
    );
    for term in &explanation.terms {
        let (indent, filter) = ("  ".repeat(term.depth), &term.filter);
        let (expected, candidates, found) = (term.expected, term.candidates, term.found);
        let (planning, reading) = (millis(term.planning), millis(term.reading));
        print!("{expected:>10} {candidates:>10} {found:>10} {planning:>10} {reading:>10}");
        println!("  {indent}{filter}");
        println!("{:>54}  {indent}  plan: {}", "", term.plan);
    }
    for spec in &explanation.missing {
        println!("missing index {spec}: fulgurite index --add {spec}");
    }
    Ok(())
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
