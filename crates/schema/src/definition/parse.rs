//! Descriptions from words: one parenthesised definition at a time.

use rustc_hash::FxHashMap;

use super::lexer::{Lexer, Token};
use super::{AttributeTypeText, ContentRuleText, Head, ObjectClassText, SyntaxText};
use crate::oid::{is_descriptor, is_numeric_oid};
use crate::registry::{ClassKind, Usage};

/// `objectidentifier` macros: names for OIDs, lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Macros {
    by_name: FxHashMap<String, String>,
}

impl Macros {
    /// Defines a name for `value`, itself a numeric OID, a macro, or `macro:suffix`.
    pub(crate) fn define(&mut self, name: &str, value: &str) -> Result<(), String> {
        if !is_descriptor(name) {
            return Err(format!("'{name}' is not a name for an object identifier"));
        }
        let oid = self
            .numeric(value)
            .ok_or_else(|| format!("'{value}' is not an object identifier"))?;
        match self.by_name.insert(name.to_ascii_lowercase(), oid.clone()) {
            Some(old) if old != oid => Err(format!(
                "object identifier '{name}' is already defined as {old}"
            )),
            _ => Ok(()),
        }
    }

    /// The numeric OID meant by `text`, if it is one or stands for one.
    pub(crate) fn numeric(&self, text: &str) -> Option<String> {
        // A single arc is no OID in itself but is a fine base for suffixes.
        let plain =
            |t: &str| is_numeric_oid(t) || (!t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()));
        if plain(text) {
            return Some(text.to_owned());
        }
        let (base, suffix) = match text.split_once(':') {
            None => (text, None),
            Some((base, suffix)) => (base, Some(suffix)),
        };
        let base = if plain(base) {
            base
        } else {
            self.by_name.get(&base.to_ascii_lowercase())?.as_str()
        };
        match suffix {
            None => Some(base.to_owned()),
            Some(suffix) => {
                let oid = format!("{base}.{suffix}");
                is_numeric_oid(&oid).then_some(oid)
            }
        }
    }

    /// `text` with a macro replaced; descriptors that are no macros stay as they are.
    fn expand(&self, text: &str) -> String {
        self.numeric(text).unwrap_or_else(|| text.to_owned())
    }
}

/// Reads one description.
pub(crate) struct Fields<'t> {
    lexer: Lexer<'t>,
    macros: &'t Macros,
}

impl<'t> Fields<'t> {
    pub(crate) fn new(text: &'t str, macros: &'t Macros) -> Fields<'t> {
        Fields {
            lexer: Lexer::new(text),
            macros,
        }
    }

    pub(crate) fn attribute_type(mut self) -> Result<AttributeTypeText, String> {
        let mut text = AttributeTypeText {
            head: self.begin()?,
            ..Default::default()
        };
        while let Some(keyword) = self.keyword()? {
            match keyword.as_str() {
                "SUP" => text.superior = Some(self.oid()?),
                "EQUALITY" => text.equality = Some(self.oid()?),
                "ORDERING" => text.ordering = Some(self.oid()?),
                "SUBSTR" | "SUBSTRING" => text.substring = Some(self.oid()?),
                "SYNTAX" => {
                    let (syntax, length) = self.syntax()?;
                    text.syntax = Some(syntax);
                    text.length_hint = length;
                }
                "SINGLE-VALUE" => text.single_value = true,
                "COLLECTIVE" => text.collective = true,
                "NO-USER-MODIFICATION" => text.no_user_modification = true,
                "USAGE" => text.usage = self.usage()?,
                _ => self.common(&keyword, &mut text.head)?,
            }
        }
        if text.collective && text.usage != Usage::UserApplications {
            return Err("a COLLECTIVE attribute must have USAGE userApplications".to_owned());
        }
        if text.superior.is_none() && text.syntax.is_none() {
            return Err(format!(
                "attribute type '{}' needs SUP or SYNTAX",
                text.head.name()
            ));
        }
        Ok(text)
    }

    pub(crate) fn object_class(mut self) -> Result<ObjectClassText, String> {
        let mut text = ObjectClassText {
            head: self.begin()?,
            ..Default::default()
        };
        while let Some(keyword) = self.keyword()? {
            match keyword.as_str() {
                "SUP" => text.superiors = self.oids()?,
                "ABSTRACT" => text.kind = ClassKind::Abstract,
                "STRUCTURAL" => text.kind = ClassKind::Structural,
                "AUXILIARY" => text.kind = ClassKind::Auxiliary,
                "MUST" => text.must = self.oids()?,
                "MAY" => text.may = self.oids()?,
                _ => self.common(&keyword, &mut text.head)?,
            }
        }
        Ok(text)
    }

    pub(crate) fn content_rule(mut self) -> Result<ContentRuleText, String> {
        let mut text = ContentRuleText {
            head: self.begin()?,
            ..Default::default()
        };
        while let Some(keyword) = self.keyword()? {
            match keyword.as_str() {
                "AUX" => text.auxiliary = self.oids()?,
                "MUST" => text.must = self.oids()?,
                "MAY" => text.may = self.oids()?,
                "NOT" => text.not = self.oids()?,
                _ => self.common(&keyword, &mut text.head)?,
            }
        }
        Ok(text)
    }

    pub(crate) fn syntax_description(mut self) -> Result<SyntaxText, String> {
        let mut text = SyntaxText {
            head: self.begin()?,
        };
        while let Some(keyword) = self.keyword()? {
            self.common(&keyword, &mut text.head)?;
        }
        Ok(text)
    }

    /// `( oid`.
    fn begin(&mut self) -> Result<Head, String> {
        match self.lexer.next()? {
            Some(Token::Open) => {}
            _ => return Err("a definition starts with '('".to_owned()),
        }
        let text = self.text("an object identifier")?;
        let oid = self.macros.numeric(text).filter(|oid| is_numeric_oid(oid));
        let oid = oid.ok_or_else(|| format!("'{text}' is not an object identifier"))?;
        Ok(Head {
            oid,
            ..Default::default()
        })
    }

    /// The next keyword in upper case, `None` at the closing parenthesis, which has to be the end.
    fn keyword(&mut self) -> Result<Option<String>, String> {
        match self.lexer.next()? {
            Some(Token::Word(word)) => Ok(Some(word.to_ascii_uppercase())),
            Some(Token::Close) => match self.lexer.next()? {
                None => Ok(None),
                Some(_) => Err("text after the closing ')'".to_owned()),
            },
            Some(Token::Quoted(text)) => Err(format!("keyword expected, found '{text}'")),
            Some(Token::Open | Token::Dollar) => Err("keyword expected".to_owned()),
            None => Err("the closing ')' is missing".to_owned()),
        }
    }

    /// NAME, DESC, OBSOLETE and X- extensions, which every description may have.
    fn common(&mut self, keyword: &str, head: &mut Head) -> Result<(), String> {
        match keyword {
            "NAME" => {
                head.names = self.texts("a name")?;
                if let Some(bad) = head.names.iter().find(|name| !is_descriptor(name)) {
                    return Err(format!("'{bad}' is not a valid name"));
                }
            }
            "DESC" => head.description = Some(self.text("a description")?.to_owned()),
            "OBSOLETE" => head.obsolete = true,
            extension if extension.starts_with("X-") => {
                let values = self.texts("the extension's value")?;
                head.extensions.push((extension.to_owned(), values));
            }
            unknown => return Err(format!("unknown keyword '{unknown}'")),
        }
        Ok(())
    }

    fn text(&mut self, what: &str) -> Result<&'t str, String> {
        match self.lexer.next()? {
            Some(Token::Quoted(text) | Token::Word(text)) => Ok(text),
            _ => Err(format!("{what} expected")),
        }
    }

    /// `'a'` or `( 'a' 'b' )`.
    fn texts(&mut self, what: &str) -> Result<Vec<String>, String> {
        if self.lexer.peek()? != Some(Token::Open) {
            return Ok(vec![self.text(what)?.to_owned()]);
        }
        self.lexer.next()?;
        let mut all = Vec::new();
        loop {
            match self.lexer.next()? {
                Some(Token::Quoted(text) | Token::Word(text)) => all.push(text.to_owned()),
                Some(Token::Close) => return Ok(all),
                _ => return Err(format!("{what} or ')' expected")),
            }
        }
    }

    fn oid(&mut self) -> Result<String, String> {
        let text = self.text("an object identifier or a name")?;
        Ok(self.macros.expand(text))
    }

    /// `a` or `( a $ b )`.
    fn oids(&mut self) -> Result<Vec<String>, String> {
        if self.lexer.peek()? != Some(Token::Open) {
            return Ok(vec![self.oid()?]);
        }
        self.lexer.next()?;
        let mut all = Vec::new();
        loop {
            match self.lexer.next()? {
                Some(Token::Quoted(text) | Token::Word(text)) => all.push(self.macros.expand(text)),
                Some(Token::Dollar) => {}
                Some(Token::Close) => return Ok(all),
                _ => return Err("a list of names is not closed with ')'".to_owned()),
            }
        }
    }

    /// `oid` or `oid{length}`, quoted or not.
    fn syntax(&mut self) -> Result<(String, Option<u32>), String> {
        let mut text = self.text("a syntax")?;
        let mut bound = None;
        if let Some((oid, rest)) = text.split_once('{') {
            (text, bound) = (oid, Some(rest));
        } else if let Some(Token::Word(next)) = self.lexer.peek()?
            && let Some(rest) = next.strip_prefix('{')
        {
            self.lexer.next()?;
            bound = Some(rest);
        }
        let length = match bound {
            None => None,
            Some(bound) => {
                let digits = bound
                    .strip_suffix('}')
                    .ok_or("'}' expected after the length of a syntax")?;
                Some(
                    digits
                        .parse()
                        .map_err(|_| format!("'{digits}' is not a length"))?,
                )
            }
        };
        Ok((self.macros.expand(text), length))
    }

    fn usage(&mut self) -> Result<Usage, String> {
        let text = self.text("a usage")?;
        match text.to_ascii_lowercase().as_str() {
            "userapplications" => Ok(Usage::UserApplications),
            "directoryoperation" => Ok(Usage::DirectoryOperation),
            "distributedoperation" => Ok(Usage::DistributedOperation),
            "dsaoperation" => Ok(Usage::DsaOperation),
            _ => Err(format!("unknown usage '{text}'")),
        }
    }
}
