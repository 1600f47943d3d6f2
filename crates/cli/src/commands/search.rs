//! `fulgurite search`.

use std::io;
use std::process::ExitCode;

use fulgurite_client::{Client, Scope, SearchRequest};
use fulgurite_ldap::FilterBuf;

use super::{exit_code, unless_pipe_closed};
use crate::arguments::search::{Search, SearchScope};
use crate::remote::answer::expect;
use crate::remote::login::connect;
use crate::remote::printer::Printer;
use crate::remote::root_dse::suffix;

/// Bytes of output that are written at once.
const BUFFER_BYTES: usize = 1 << 16;

pub(crate) fn run(command: Search) -> ExitCode {
    exit_code(search(&command))
}

fn search(command: &Search) -> anyhow::Result<()> {
    let (filter, attributes) = question(command);
    let filter = FilterBuf::parse(filter)?;
    let mut client = connect(&command.server)?;
    let base = match &command.base.base {
        Some(base) => base.clone(),
        None => suffix(&mut client, None)?,
    };
    let request = SearchRequest {
        size_limit: command.size_limit,
        attributes: attributes.iter().map(|name| name.as_bytes()).collect(),
        ..SearchRequest::new(&base, scope(command.scope), filter.filter())
    };
    unless_pipe_closed(show(&mut client, &request, (command, &attributes)))
}

/// Returns filter and attributes. As in ldapsearch, a first word without "=" is an attribute.
fn question(command: &Search) -> (&str, Vec<&str>) {
    let mut attributes: Vec<&str> = command.attributes.iter().map(String::as_str).collect();
    match command.filter.as_deref() {
        Some(filter) if filter.contains('=') || filter.starts_with('(') => (filter, attributes),
        Some(attribute) => {
            attributes.insert(0, attribute);
            ("(objectClass=*)", attributes)
        }
        None => ("(objectClass=*)", attributes),
    }
}

fn show(
    client: &mut Client,
    request: &SearchRequest<'_>,
    (command, attributes): (&Search, &[&str]),
) -> anyhow::Result<()> {
    // A list of all attributes is no list of columns.
    let is_open = |name: &&str| matches!(*name, "*" | "+") || name.starts_with('@');
    let mut columns = attributes.to_vec();
    if columns.iter().any(is_open) {
        columns.clear();
    } else if !columns.is_empty() {
        columns.insert(0, "dn");
    }
    columns.retain(|name| *name != "1.1");
    let out = io::BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    let mut printer = Printer::new(out, command.format, &columns)?;
    let end = client.search_each(request, command.page, &mut |entry| {
        anyhow::Ok(printer.entry(&entry)?)
    })?;
    for url in &end.references {
        printer.remark(&format!("more at {url}"))?;
    }
    printer.finish()?;
    let base = String::from_utf8_lossy(request.base);
    expect(&end.result, || format!("the search below \"{base}\" ends"))
}

const fn scope(scope: SearchScope) -> Scope {
    match scope {
        SearchScope::Base => Scope::Base,
        SearchScope::One => Scope::One,
        SearchScope::Sub => Scope::Subtree,
        SearchScope::Children => Scope::Children,
    }
}
