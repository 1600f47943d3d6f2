//! Set expressions.

use fulgurite_schema::Schema;

use crate::set::SetExpression;

/// Nesting of parentheses.
const DEPTH_MAX: usize = 32;

/// Parses a set expression.
pub(crate) fn parse_set(schema: &Schema, text: &str) -> Result<SetExpression, String> {
    let mut parser = Parser {
        schema,
        rest: text.trim(),
    };
    let set = parser.expression(0)?;
    if parser.rest.is_empty() {
        Ok(set)
    } else {
        Err(format!("unexpected {:?} in a set", parser.rest))
    }
}

struct Parser<'t> {
    schema: &'t Schema,
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Operands from left to right.
    fn expression(&mut self, depth: usize) -> Result<SetExpression, String> {
        if depth > DEPTH_MAX {
            return Err("a set is nested too deeply".to_owned());
        }
        let mut set = self.operand(depth)?;
        loop {
            self.skip_blanks();
            let join: fn(Box<SetExpression>, Box<SetExpression>) -> SetExpression =
                match self.rest.as_bytes().first() {
                    Some(b'&') => SetExpression::Both,
                    Some(b'|') => SetExpression::Either,
                    Some(b'+') => SetExpression::Joined,
                    _ => return Ok(set),
                };
            self.skip(1);
            let right = self.operand(depth)?;
            set = join(Box::new(set), Box::new(right));
        }
    }

    fn operand(&mut self, depth: usize) -> Result<SetExpression, String> {
        self.skip_blanks();
        let mut set = if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let inner = self.expression(depth + 1)?;
            self.skip_blanks();
            self.rest = self.rest.strip_prefix(')').ok_or("expected ) in a set")?;
            inner
        } else if let Some(rest) = self.rest.strip_prefix('[') {
            let (text, left) = rest.split_once(']').ok_or("expected ] in a set")?;
            self.rest = left;
            SetExpression::Text(text.to_owned())
        } else {
            match self.word() {
                "this" => SetExpression::This,
                "user" => SetExpression::User,
                other => {
                    return Err(format!(
                        "expected this, user, [text] or ( in a set, not {other:?}"
                    ));
                }
            }
        };
        loop {
            self.skip_blanks();
            let step = self.rest.strip_prefix("->").or(self.rest.strip_prefix('/'));
            let Some(rest) = step else {
                return Ok(set);
            };
            self.rest = rest;
            set = self.step(set)?;
        }
    }

    fn step(&mut self, of: SetExpression) -> Result<SetExpression, String> {
        self.skip_blanks();
        if let Some(rest) = self.rest.strip_prefix('-') {
            self.rest = rest;
            let levels = match self.rest.strip_prefix('*') {
                Some(rest) => {
                    self.rest = rest;
                    None
                }
                None => {
                    let levels = self.word().parse();
                    Some(levels.map_err(|_| "expected a number of levels after /- in a set")?)
                }
            };
            return Ok(SetExpression::Above {
                of: Box::new(of),
                levels,
            });
        }
        let word = self.word();
        if word.is_empty() {
            return Err("expected an attribute in a set".to_owned());
        }
        let attribute = self.schema.describe(word.as_bytes()).ok();
        let again = self.rest.starts_with('*');
        self.skip(usize::from(again));
        Ok(SetExpression::Values {
            of: Box::new(of),
            attribute,
            again,
        })
    }

    fn word(&mut self) -> &'t str {
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ';');
        let mut end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        // `attr->next` is a step, not a hyphen.
        if self
            .rest
            .get(end.saturating_sub(1)..)
            .is_some_and(|rest| rest.starts_with("->"))
        {
            end -= 1;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}
