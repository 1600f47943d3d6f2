//! The text form of rules.
//!
//! ```text
//!   text --> tokens --> parser --> target (to ...), subject (by ...), effect (access and control) --> Rule
//! ```

mod effect;
mod error;
mod group;
mod parser;
mod set;
mod subject;
mod target;
mod tokens;

use std::sync::Arc;

use fulgurite_schema::Schema;

pub use error::RuleError;
pub(crate) use group::fixed_group;
use parser::{ParseResult, Parser, error_at};
pub(crate) use set::parse_set;
use tokens::tokens;

use crate::rule::{Rule, RuleText};
use crate::rules::{Rules, WithoutRules};

impl Rules {
    /// Compiles rules written in the language of slapd.access(5); `without` holds if there are
    /// none.
    ///
    /// ```text
    /// to      *  [dn[.<style>]=<pattern>]  [filter=<filter>]  [attrs=<list> [val[/<rule>][.<style>]=<value>]]
    /// by      *  anonymous  users  self[.level{n}]  dn[.<style>[,expand]]=  dnattr=  group[/<class>[/<attr>]][.expand]=
    ///         set[.expand]=  peername[.<style>]=  sockname=  sockurl=  domain=  [transport_|tls_|sasl_]ssf=  real...
    /// access  [real][self]{none|disclose|auth|compare|search|read|add|delete|write|manage | {=|+|-}{0dxcsrwazim}}
    /// control stop  continue  break
    /// ```
    /// # Errors
    /// [`RuleError`] with the origin and number of the rule and the column where it went wrong.
    pub fn parse<'t>(
        schema: &Arc<Schema>,
        texts: impl IntoIterator<Item = &'t RuleText>,
        without: WithoutRules,
    ) -> Result<Rules, RuleError> {
        let mut rules = Rules::empty(schema, without);
        for (at, text) in texts.into_iter().enumerate() {
            rules.push(Arc::new(parse_rule(schema, at + 1, text)?));
        }
        Ok(rules.completed())
    }
}

/// Compiles one rule; `number` names it in errors.
fn parse_rule(schema: &Schema, number: usize, given: &RuleText) -> Result<Rule, RuleError> {
    let mut parser = Parser {
        schema,
        text: &given.text,
        tokens: Vec::new(),
        next: 0,
    };
    parser.read(number, given).map_err(|error| {
        let before = given.text.get(..error.at).unwrap_or(&given.text);
        RuleError {
            origin: Arc::clone(&given.origin),
            rule: number,
            column: before.chars().count() + 1,
            reason: error.reason,
        }
    })
}

impl Parser<'_> {
    fn read(&mut self, number: usize, given: &RuleText) -> ParseResult<Rule> {
        self.tokens = tokens(&given.text).map_err(|at| error_at(at, "the quote is not closed"))?;
        self.skip_number();
        if self.peek().is_some_and(|word| word.is("access")) {
            self.next += 1;
        }
        let from = self.peek().map_or(0, |word| word.at);
        self.keyword("to")?;
        let target = self.target()?;
        let target_text = self.source(from);
        let mut by = Vec::new();
        while self.peek().is_some() {
            let from = self.peek().map_or(0, |word| word.at);
            self.keyword("by")?;
            let mut clause = self.clause()?;
            clause.text = self.source(from);
            by.push(clause);
        }
        if by.is_empty() {
            return Err(self.error_here("expected \"by\" and whom the rule is about"));
        }
        Ok(Rule {
            number,
            origin: Arc::clone(&given.origin),
            target_text,
            target,
            by,
        })
    }
}
