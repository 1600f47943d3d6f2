//! Definitions as RFC 4512 descriptions, in the form servers publish.

use std::fmt::{Display, Formatter, Result};

use super::kind::{ClassKind, Usage};
use super::text::{
    AttributeTypeText, ContentRuleText, Head, NameFormText, ObjectClassText, StructureRuleText,
    SyntaxText,
};

impl Display for AttributeTypeText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        open(f, &self.head)?;
        for (keyword, value) in [
            ("SUP", &self.superior),
            ("EQUALITY", &self.equality),
            ("ORDERING", &self.ordering),
            ("SUBSTR", &self.substring),
            ("SYNTAX", &self.syntax),
        ] {
            if let Some(value) = value {
                write!(f, " {keyword} {value}")?;
            }
        }
        if let Some(length) = self.length_hint {
            write!(f, "{{{length}}}")?;
        }
        for (set, keyword) in [
            (self.single_value, " SINGLE-VALUE"),
            (self.collective, " COLLECTIVE"),
            (self.no_user_modification, " NO-USER-MODIFICATION"),
        ] {
            if set {
                f.write_str(keyword)?;
            }
        }
        f.write_str(match self.usage {
            Usage::UserApplications => "",
            Usage::DirectoryOperation => " USAGE directoryOperation",
            Usage::DistributedOperation => " USAGE distributedOperation",
            Usage::DsaOperation => " USAGE dSAOperation",
        })?;
        close(f, &self.head)
    }
}

impl Display for ObjectClassText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        open(f, &self.head)?;
        list(f, "SUP", &self.superiors)?;
        f.write_str(match self.kind {
            ClassKind::Abstract => " ABSTRACT",
            ClassKind::Structural => " STRUCTURAL",
            ClassKind::Auxiliary => " AUXILIARY",
        })?;
        list(f, "MUST", &self.must)?;
        list(f, "MAY", &self.may)?;
        close(f, &self.head)
    }
}

impl Display for ContentRuleText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        open(f, &self.head)?;
        list(f, "AUX", &self.auxiliary)?;
        list(f, "MUST", &self.must)?;
        list(f, "MAY", &self.may)?;
        list(f, "NOT", &self.not)?;
        close(f, &self.head)
    }
}

impl Display for SyntaxText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // Syntaxes have no names (RFC 4512, section 4.1.5), though files give them some.
        write!(f, "( {}", self.head.oid)?;
        if let Some(description) = &self.head.description {
            write!(f, " DESC '{description}'")?;
        }
        close(f, &self.head)
    }
}

impl Display for NameFormText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        open(f, &self.head)?;
        write!(f, " OC {}", self.class)?;
        list(f, "MUST", &self.must)?;
        list(f, "MAY", &self.may)?;
        close(f, &self.head)
    }
}

impl Display for StructureRuleText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        open(f, &self.head)?;
        write!(f, " FORM {}", self.form)?;
        // Rule numbers stand side by side, without `$`.
        match self.superiors.as_slice() {
            [] => {}
            [one] => write!(f, " SUP {one}")?,
            many => write!(f, " SUP ( {} )", many.join(" "))?,
        }
        close(f, &self.head)
    }
}

fn open(f: &mut Formatter<'_>, head: &Head) -> Result {
    write!(f, "( {}", head.oid)?;
    if !head.names.is_empty() {
        f.write_str(" NAME ")?;
        quoted(f, &head.names)?;
    }
    if let Some(description) = &head.description {
        write!(f, " DESC '{description}'")?;
    }
    if head.obsolete {
        f.write_str(" OBSOLETE")?;
    }
    Ok(())
}

fn close(f: &mut Formatter<'_>, head: &Head) -> Result {
    for (name, values) in &head.extensions {
        write!(f, " {name} ")?;
        quoted(f, values)?;
    }
    f.write_str(" )")
}

fn quoted(f: &mut Formatter<'_>, texts: &[String]) -> Result {
    match texts {
        [one] => write!(f, "'{one}'"),
        many => {
            f.write_str("( ")?;
            for text in many {
                write!(f, "'{text}' ")?;
            }
            f.write_str(")")
        }
    }
}

fn list(f: &mut Formatter<'_>, keyword: &str, names: &[String]) -> Result {
    match names {
        [] => Ok(()),
        [one] => write!(f, " {keyword} {one}"),
        many => write!(f, " {keyword} ( {} )", many.join(" $ ")),
    }
}
