//! Descriptions from words: one parenthesised definition at a time.

use rustc_hash::FxHashMap;

use super::kind::{ClassKind, Usage};
use super::lexer::{Lexer, Token};
use super::text::{
    AttributeTypeText, ContentRuleText, Head, NameFormText, ObjectClassText, StructureRuleText,
    SyntaxText,
};
use crate::oid::{is_descriptor, is_numeric_oid};

/// `objectidentifier` macros: names for OIDs, lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Macros {
    by_name: FxHashMap<String, String>,
}

impl Macros {
    /// Defines a name for `value`, itself a numeric OID, a macro, or `macro:suffix`.
    pub(crate) fn define(&mut self, name: &str, value: &str) -> Result<(), String> {
        if !is_descriptor(name) {
            return Err(format!("\"{name}\" is no name for an OID"));
        }
        let oid = self
            .numeric(value)
            .ok_or_else(|| format!("OID {value} not recognized"))?;
        match self.by_name.insert(name.to_ascii_lowercase(), oid.clone()) {
            Some(old) if old != oid => Err(format!("\"{name}\" previously defined \"{old}\"")),
            _ => Ok(()),
        }
    }

    /// Returns the numeric OID that `text` is or names.
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

    /// Replaces a macro in `text`. Other descriptors stay as they are.
    fn expand(&self, text: &str) -> String {
        self.numeric(text).unwrap_or_else(|| text.to_owned())
    }
}

/// Reads one description.
pub(crate) struct Fields<'t> {
    lexer: Lexer<'t>,
    macros: &'t Macros,
    /// Keywords met so far: each may stand once. The kinds of a class count as one.
    seen: Vec<String>,
}

impl<'t> Fields<'t> {
    pub(crate) fn new(text: &'t str, macros: &'t Macros) -> Fields<'t> {
        Fields {
            lexer: Lexer::new(text),
            macros,
            seen: Vec::new(),
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
        if text.superior.is_none() && text.syntax.is_none() {
            return Err(format!(
                "AttributeType SYNTAX or SUPerior required: \"{}\"",
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

    pub(crate) fn name_form(mut self) -> Result<NameFormText, String> {
        let mut text = NameFormText {
            head: self.begin()?,
            ..Default::default()
        };
        while let Some(keyword) = self.keyword()? {
            match keyword.as_str() {
                "OC" => text.class = self.oid()?,
                "MUST" => text.must = self.oids()?,
                "MAY" => text.may = self.oids()?,
                _ => self.common(&keyword, &mut text.head)?,
            }
        }
        if text.class.is_empty() || text.must.is_empty() {
            return Err(format!(
                "name form OC and MUST required: \"{}\"",
                text.head.name()
            ));
        }
        Ok(text)
    }

    pub(crate) fn structure_rule(mut self) -> Result<StructureRuleText, String> {
        self.open()?;
        let number = self.text("a rule number")?;
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("'{number}' is not a rule number"));
        }
        let mut text = StructureRuleText {
            head: Head {
                oid: number.to_owned(),
                ..Default::default()
            },
            ..Default::default()
        };
        while let Some(keyword) = self.keyword()? {
            match keyword.as_str() {
                "FORM" => text.form = self.oid()?,
                "SUP" => text.superiors = self.texts("a rule number")?,
                _ => self.common(&keyword, &mut text.head)?,
            }
        }
        if text.form.is_empty() {
            return Err(format!(
                "structure rule FORM required: \"{}\"",
                text.head.name()
            ));
        }
        Ok(text)
    }

    fn open(&mut self) -> Result<(), String> {
        match self.lexer.next()? {
            Some(Token::Open) => Ok(()),
            _ => Err("No opening parenthesis".to_owned()),
        }
    }

    /// Parses `( oid`.
    fn begin(&mut self) -> Result<Head, String> {
        self.open()?;
        let text = match self.lexer.numbers_before_keyword() {
            Some(numbers) => numbers,
            None => self.text("an object identifier")?,
        };
        let oid = self.macros.numeric(text).filter(|oid| is_numeric_oid(oid));
        // Other servers write `name-oid` if no number is assigned.
        let placeholder = || text.ends_with("-oid") && is_descriptor(text);
        let oid = oid.or_else(|| placeholder().then(|| text.to_ascii_lowercase()));
        let oid = oid.ok_or_else(|| format!("OID could not be expanded: \"{text}\""))?;
        Ok(Head {
            oid,
            ..Default::default()
        })
    }

    /// Returns the next keyword in upper case, `None` at the closing parenthesis, which has to be
    /// the end.
    fn keyword(&mut self) -> Result<Option<String>, String> {
        match self.lexer.next()? {
            Some(Token::Word(word)) => {
                let keyword = word.to_ascii_uppercase();
                let counted = match keyword.as_str() {
                    "ABSTRACT" | "STRUCTURAL" | "AUXILIARY" => "kind",
                    other => other,
                };
                if !counted.starts_with("X-") && self.seen.iter().any(|seen| seen == counted) {
                    return Err(format!("Duplicate option: \"{keyword}\""));
                }
                self.seen.push(counted.to_owned());
                Ok(Some(keyword))
            }
            Some(Token::Close) => match self.lexer.next()? {
                None => Ok(None),
                Some(_) => Err("text after the closing ')'".to_owned()),
            },
            Some(Token::Quoted(text)) => Err(format!("keyword expected, found '{text}'")),
            Some(Token::Open | Token::Dollar) => Err("keyword expected".to_owned()),
            None => Err("Missing closing parenthesis before end of input".to_owned()),
        }
    }

    /// Parses NAME, DESC, OBSOLETE and X- extensions, which every description may have.
    fn common(&mut self, keyword: &str, head: &mut Head) -> Result<(), String> {
        match keyword {
            "NAME" => {
                head.names = self.texts("a name")?;
                if let Some(bad) = head.names.iter().find(|name| !is_descriptor(name)) {
                    return Err(format!("Invalid NAME: \"{bad}\""));
                }
            }
            "DESC" => head.description = Some(self.text("a description")?.to_owned()),
            "OBSOLETE" => head.obsolete = true,
            extension if extension.starts_with("X-") => {
                let values = self.texts("the extension's value")?;
                head.extensions.push((extension.to_owned(), values));
            }
            unknown => return Err(format!("Unexpected token: \"{unknown}\"")),
        }
        Ok(())
    }

    fn text(&mut self, what: &str) -> Result<&'t str, String> {
        match self.lexer.next()? {
            Some(Token::Quoted(text) | Token::Word(text)) => Ok(text),
            _ => Err(format!("{what} expected")),
        }
    }

    /// Parses `'a'` or `( 'a' 'b' )`.
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

    /// Parses `a` or `( a $ b )`.
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

    /// Parses `oid` or `oid{length}`, quoted or not.
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
