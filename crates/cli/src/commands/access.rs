//! `fulgurite access explain`: the rights of a requester to an entry, and the rule that decides.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use fulgurite_directory::{Connection, ExplainTarget, Outcome, RightsExplanation, Step};
use fulgurite_schema::Dn;
use fulgurite_server::open_directory;

use crate::arguments::tools::{Access, AccessAction, Explain};
use crate::rights::{AccessQuery, session_of};

pub(crate) fn run(command: Access) -> anyhow::Result<()> {
    let AccessAction::Explain(explain) = command.question;
    let settings = explain.config.settings()?;
    let directory = open_directory(&settings)?;
    let schema = directory.schema();
    let who = explain
        .subject
        .as_deref()
        .map(|text| Dn::parse(schema, text));
    let who = who.transpose().context("--as")?;
    let session = session_of(connection(&explain)?, who.as_ref());
    let questions = explain
        .attributes
        .iter()
        .map(|text| AccessQuery::parse(schema, text))
        .collect::<Result<Vec<_>, _>>()?;
    let targets: Vec<ExplainTarget> = questions.iter().map(|asked| asked.target.clone()).collect();
    let answers = directory.explain(&session, &explain.entry, &targets, explain.dry_run)?;
    let mut out = std::io::stdout().lock();
    for (at, answer) in answers.iter().enumerate() {
        let wanted = questions.get(at).and_then(|asked| asked.wanted.as_ref());
        let verdict = match wanted {
            None => String::new(),
            Some((word, rights)) if answer.allows(*rights) => format!(", {word} ALLOWED"),
            Some((word, _)) => format!(", {word} DENIED"),
        };
        writeln!(out, "{}: {}{verdict}", named(answer), answer.explanation)?;
        for line in steps(answer) {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

fn connection(explain: &Explain) -> anyhow::Result<Connection> {
    let mut connection = Connection::default();
    for fact in &explain.given {
        let taken = fact
            .split_once('=')
            .is_some_and(|(name, value)| connection.take_fact(name, value));
        if !taken {
            bail!(
                "--given {fact}: expected peername=, sockname=, sockurl=, domain=, ssf=, transport_ssf=, tls_ssf= or \
                 sasl_ssf="
            );
        }
    }
    Ok(connection)
}

/// Formats the attribute, with its value if the query has one; never a password.
fn named(answer: &RightsExplanation) -> String {
    let ExplainTarget::Attribute(_, Some(value)) = &answer.target else {
        return answer.name.clone();
    };
    if answer.name.eq_ignore_ascii_case("userPassword") {
        return format!("{}=****", answer.name);
    }
    format!(
        "{}={}",
        answer.name,
        String::from_utf8_lossy(value).escape_debug()
    )
}

fn steps(answer: &RightsExplanation) -> Vec<String> {
    let explanation = &answer.explanation;
    if explanation.is_root {
        return vec!["the root of the database passes all rules".to_owned()];
    }
    let mut lines: Vec<String> = explanation.steps.iter().map(reason).collect();
    if explanation.deciding().is_none() {
        lines.push("no rule speaks of it: to * by * none".to_owned());
    }
    lines
}

fn reason(step: &Step) -> String {
    let place = match (step.rule, &*step.origin) {
        (0, _) => "without rules".to_owned(),
        (rule, "") => format!("rule {rule}"),
        (rule, origin) => format!("{origin}, rule {rule}"),
    };
    let text = format!("{place}: {} {}", step.target, step.by);
    match step.outcome {
        Outcome::NoMatch => format!("{text}   (does not fit)"),
        Outcome::Applied(rights) => format!("{text}   -> {rights}"),
        Outcome::Closed => format!("{text}   -> =0 (no clause fits)"),
    }
}
