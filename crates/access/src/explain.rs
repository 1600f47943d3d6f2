//! The reasons of a decision: the clauses tried on the way, and the one that decided.

use std::fmt;
use std::sync::Arc;

use crate::decide::EntryRights;
use crate::evaluate::{Evaluation, Trace};
use crate::rights::Rights;
use crate::rule::{Clause, Effect, Part, Rule};
use crate::rules::Rules;

/// A decision and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The rights.
    pub rights: Rights,
    /// True if the rights are a level that a rule names, false if they are a set of privileges.
    pub is_level: bool,
    /// True if no rule was evaluated, because the requester is the root.
    pub is_root: bool,
    /// The clauses of each rule about the target, in order, up to the one that decided.
    pub steps: Vec<Step>,
}

/// One clause of a rule about the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rule, from 1, in the list it was written in; 0 for what holds without rules.
    pub rule: usize,
    /// Where it was written.
    pub origin: Arc<str>,
    /// `to ...`
    pub target: String,
    /// The clause, from 1; one more than there are for the end of the rule.
    pub clause: usize,
    /// `by ...`
    pub by: String,
    /// The entries that the clause names: names in normal form, and texts of sets.
    pub names: Vec<String>,
    /// The outcome of the clause.
    pub outcome: Outcome,
}

/// The outcome of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It does not match the requester.
    NoMatch,
    /// It matches: the rights after it.
    Applied(Rights),
    /// No clause of the rule matches, which ends it as `by * none stop` would.
    Closed,
}

impl Explanation {
    /// Returns the step that decided; `None` for the root, and if no rule is about the target.
    #[must_use]
    pub fn deciding(&self) -> Option<&Step> {
        self.steps
            .iter()
            .rev()
            .find(|step| step.outcome != Outcome::NoMatch)
    }
}

/// As slapacl writes rights: `read(=rscxd)`, `=wd`, `none(=0)`.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.rights.level();
        if self.is_level && level.rights() == self.rights {
            write!(f, "{}({})", level.keyword(), self.rights)
        } else {
            write!(f, "{}", self.rights)
        }
    }
}

impl EntryRights<'_> {
    /// Decides and records the steps. Costs more than a decision.
    #[must_use]
    pub fn explain(&self, part: Part<'_>, value: Option<&[u8]>) -> Explanation {
        let mut explanation = Explanation {
            rights: Rights::ALL,
            is_level: true,
            is_root: self.decisions.is_root(),
            steps: Vec::new(),
        };
        if explanation.is_root {
            return explanation;
        }
        explanation.is_level = false;
        let mut record = Record {
            rules: self.decisions.context.rules,
            explanation,
        };
        let rights = Evaluation::new(&self.context, part, value).run(&mut record);
        record.explanation.rights = rights;
        record.explanation
    }
}

struct Record<'r> {
    rules: &'r Rules,
    explanation: Explanation,
}

impl Record<'_> {
    fn push(&mut self, rule: &Rule, clause: usize, by: &str, outcome: Outcome) {
        self.explanation.steps.push(Step {
            rule: rule.number,
            origin: Arc::clone(&rule.origin),
            target: rule.target_text.clone(),
            clause: clause + 1,
            by: by.to_owned(),
            names: rule.by.get(clause).map(Clause::names).unwrap_or_default(),
            outcome,
        });
    }
}

impl Trace for Record<'_> {
    fn clause(&mut self, rule: usize, clause: usize, fitted: Option<Rights>) {
        let Some(rule) = self.rules.rules.get(rule).cloned() else {
            return;
        };
        let Some(by) = rule.by.get(clause) else {
            return;
        };
        if fitted.is_some() {
            match by.effect {
                Effect::Level(_) => self.explanation.is_level = true,
                Effect::Set(_) => self.explanation.is_level = false,
                Effect::Add(_) | Effect::Remove(_) => {}
            }
        }
        let outcome = fitted.map_or(Outcome::NoMatch, Outcome::Applied);
        self.push(&rule, clause, &by.text, outcome);
    }

    fn ended(&mut self, rule: usize) {
        if let Some(rule) = self.rules.rules.get(rule).cloned() {
            self.explanation.is_level = false;
            self.push(&rule, rule.by.len(), "by * none stop", Outcome::Closed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoFacts, Requester, RuleText, WithoutRules};
    use fulgurite_schema::Schema;

    fn explained(rules: &[&str], who: &str, attribute: &str) -> Explanation {
        let schema = Schema::standard();
        let texts: Vec<RuleText> = rules
            .iter()
            .enumerate()
            .map(|(at, text)| RuleText {
                text: (*text).to_owned(),
                origin: format!("slapd.conf, line {}", at + 7).into(),
            })
            .collect();
        let rules = Rules::parse(&schema, &texts, WithoutRules::default()).expect("rules");
        let decisions = rules.decide(&Requester::user(who));
        let rights = decisions.at("uid=x,dc=com", &NoFacts);
        let description = schema.describe(attribute.as_bytes()).expect(attribute);
        rights.explain(Part::Attribute(&description), None)
    }

    #[test]
    fn the_deciding_clause_is_named() {
        let rules = [
            "to attrs=mail by self write by users +w continue by * +d",
            "to attrs=cn by self read",
            "to * by anonymous auth by * read",
        ];
        let mail = explained(&rules, "uid=y,dc=com", "mail");
        assert_eq!(mail.to_string(), "=wd");
        let outcomes: Vec<_> = mail
            .steps
            .iter()
            .map(|step| (&*step.by, step.outcome))
            .collect();
        let added = Outcome::Applied(Rights::WRITE);
        let all = Outcome::Applied(Rights::WRITE | Rights::DISCLOSE);
        assert_eq!(
            outcomes,
            [
                ("by self write", Outcome::NoMatch),
                ("by users +w continue", added),
                ("by * +d", all)
            ]
        );
        let deciding = mail.deciding().expect("a clause");
        assert_eq!(
            (deciding.rule, deciding.clause, &*deciding.origin),
            (1, 3, "slapd.conf, line 7")
        );
        let cn = explained(&rules, "uid=y,dc=com", "cn");
        assert_eq!(cn.to_string(), "=0");
        assert_eq!(
            cn.deciding().map(|step| (step.rule, step.outcome)),
            Some((2, Outcome::Closed))
        );
        let sn = explained(&rules, "uid=y,dc=com", "sn");
        assert_eq!(sn.to_string(), "read(=rscxd)");
        assert_eq!(
            sn.deciding().map(|step| (&*step.target, step.clause)),
            Some(("to *", 2))
        );
        let rules = [
            "to * by dn.subtree=\"OU=a,dc=com\" read by group=\"cn=g,dc=com\" read \
             by set=\"[cn=s,dc=com]/member & user\" read by dn.regex=\"^uid=[^,]+$\" read",
        ];
        let names = explained(&rules, "uid=y,dc=com", "cn");
        let names: Vec<_> = names.steps.iter().flat_map(|step| &step.names).collect();
        assert_eq!(names, ["ou=a,dc=com", "cn=g,dc=com", "cn=s,dc=com"]);
        let none = explained(&["to attrs=cn by * none"], "", "cn");
        assert_eq!(none.to_string(), "none(=0)");
        let nobody = explained(&["to attrs=cn by * none"], "", "sn");
        assert_eq!(
            (nobody.to_string(), nobody.deciding()),
            ("=0".to_owned(), None)
        );
    }
}
