//! The constants, types and functions of a Rust source that the header repeats.

use syn::{
    Attribute, Expr, File, FnArg, ItemConst, ItemFn, ItemMacro, ItemStruct, ItemType, Lit, Pat,
    PathArguments, PointerMutability, ReturnType, Type, UnOp,
};

/// The macro that defines functions of the interface.
const EXPORTED: &str = "exported";

/// A definition as C has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The comment's lines.
    pub(crate) comment: Vec<String>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// With its type and value.
    Constant(String, String),
    /// Another name for a type.
    Alias(String),
    /// A function's type, to be used with a star.
    Callback(Signature),
    Struct(Vec<Item>),
    /// A structure that C knows by pointers only.
    Opaque,
    /// A member of a structure, with its type.
    Field(String),
    Function(Signature),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) result: String,
    /// Type and name of each.
    pub(crate) arguments: Vec<(String, String)>,
}

/// The definitions of a source that are part of the interface, in its order.
pub(crate) fn items(text: &str) -> Result<Vec<Item>, String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for item in &file.items {
        if let syn::Item::Macro(item) = item
            && item.mac.path.is_ident(EXPORTED)
        {
            found.extend(exported(item)?);
            continue;
        }
        let item = match item {
            syn::Item::Const(item) if is_public(&item.vis) => constant(item)?,
            syn::Item::Type(item) if is_public(&item.vis) => alias(item)?,
            syn::Item::Struct(item) if is_public(&item.vis) => structure(item)?,
            syn::Item::Fn(item) if is_exported(&item.attrs) => function(item)?,
            _ => continue,
        };
        found.push(item);
    }
    Ok(found)
}

/// The functions in a macro call, which look like Rust functions.
fn exported(item: &ItemMacro) -> Result<Vec<Item>, String> {
    let file: File = item
        .mac
        .parse_body()
        .map_err(|error| format!("{EXPORTED}: {error}"))?;
    let functions = file.items.iter().map(|item| match item {
        syn::Item::Fn(item) => function(item),
        _ => Err(format!("{EXPORTED} holds functions only")),
    });
    functions.collect()
}

fn constant(item: &ItemConst) -> Result<Item, String> {
    Ok(Item {
        comment: comment(&item.attrs),
        name: item.ident.to_string(),
        kind: Kind::Constant(c_type(&item.ty)?, value(&item.expr)?),
    })
}

fn alias(item: &ItemType) -> Result<Item, String> {
    let kind = match &*item.ty {
        Type::FnPtr(function) => {
            let mut arguments = Vec::new();
            for input in &function.inputs {
                let name = input.name.as_ref().map(|(name, _)| name.to_string());
                arguments.push((c_type(&input.ty)?, name.unwrap_or_default()));
            }
            Kind::Callback(Signature {
                result: result(&function.output)?,
                arguments,
            })
        }
        other => Kind::Alias(c_type(other)?),
    };
    Ok(Item {
        comment: comment(&item.attrs),
        name: item.ident.to_string(),
        kind,
    })
}

fn structure(item: &ItemStruct) -> Result<Item, String> {
    let is_c = item
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("repr"));
    let mut fields = Vec::new();
    for field in item.fields.iter().filter(|_| is_c) {
        fields.push(Item {
            comment: comment(&field.attrs),
            name: field
                .ident
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            kind: Kind::Field(c_type(&field.ty)?),
        });
    }
    Ok(Item {
        comment: comment(&item.attrs),
        name: item.ident.to_string(),
        kind: if is_c {
            Kind::Struct(fields)
        } else {
            Kind::Opaque
        },
    })
}

fn function(item: &ItemFn) -> Result<Item, String> {
    let mut arguments = Vec::new();
    for input in &item.sig.inputs {
        let FnArg::Typed(input) = input else {
            return Err(format!("{} is a method", item.sig.ident));
        };
        let Pat::Ident(name) = &*input.pat else {
            return Err(format!("{} has an argument without a name", item.sig.ident));
        };
        let name = name.ident.to_string();
        let name = name.trim_start_matches('_').to_owned();
        arguments.push((c_type(&input.ty)?, name));
    }
    Ok(Item {
        comment: comment(&item.attrs),
        name: item.sig.ident.to_string(),
        kind: Kind::Function(Signature {
            result: result(&item.sig.output)?,
            arguments,
        }),
    })
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

fn is_exported(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => {
            list.path.is_ident("unsafe") && list.tokens.to_string() == "no_mangle"
        }
        _ => false,
    })
}

/// The lines of a comment, up to the part on safety, without Rust's marks.
fn comment(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        let syn::Meta::NameValue(pair) = &attribute.meta else {
            continue;
        };
        let Expr::Lit(literal) = &pair.value else {
            continue;
        };
        if let (true, Lit::Str(text)) = (pair.path.is_ident("doc"), &literal.lit) {
            let line = text.value();
            let line = line.strip_prefix(' ').unwrap_or(&line);
            if line == "# Safety" {
                break;
            }
            lines.push(line.replace("[`", "").replace("`]", "").replace('`', ""));
        }
    }
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

fn value(expression: &Expr) -> Result<String, String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => Ok(number.to_string().replace('_', "")),
            _ => Err("a constant is neither number nor name".to_owned()),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            Ok(format!("(-{})", value(&unary.expr)?))
        }
        Expr::Path(path) => Ok(last_segment(&path.path)),
        _ => Err("a constant is neither number nor name".to_owned()),
    }
}

fn result(output: &ReturnType) -> Result<String, String> {
    match output {
        ReturnType::Default => Ok("void".to_owned()),
        ReturnType::Type(_, r#type) => c_type(r#type),
    }
}

/// A type as C writes it; with a star at its end if it is a pointer.
fn c_type(r#type: &Type) -> Result<String, String> {
    match r#type {
        Type::Ptr(pointer) => {
            let inner = c_type(&pointer.elem)?;
            let space = if inner.ends_with('*') { "" } else { " " };
            let is_pointer = inner.ends_with('*');
            Ok(match (&pointer.mutability, is_pointer) {
                (PointerMutability::Const(_), false) => format!("const {inner} *"),
                (PointerMutability::Const(_), true) => format!("{inner}const *"),
                (PointerMutability::Mut(_), _) => format!("{inner}{space}*"),
            })
        }
        Type::Path(path) => {
            let last = path.path.segments.last().ok_or("a type without a name")?;
            if last.ident == "Option" {
                return optional(&last.arguments);
            }
            Ok(match last.ident.to_string().as_str() {
                "c_int" => "int",
                "c_uint" => "unsigned int",
                "c_char" => "char",
                "c_void" => "void",
                "usize" => "size_t",
                "u64" => "uint64_t",
                other => other,
            }
            .to_owned())
        }
        _ => Err("a type that C does not have".to_owned()),
    }
}

/// A function that may be absent: in C any pointer to one.
fn optional(arguments: &PathArguments) -> Result<String, String> {
    if let PathArguments::AngleBracketed(arguments) = arguments
        && let Some(syn::GenericArgument::Type(inner)) = arguments.args.first()
    {
        return Ok(format!("{} *", c_type(inner)?));
    }
    Err("an optional of nothing".to_owned())
}

fn last_segment(path: &syn::Path) -> String {
    path.segments
        .last()
        .map(|last| last.ident.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_items_are_not_found() {
        let text = "
            /// Kept [`so`].
            ///
            /// # Safety
            /// None of C's business.
            #[unsafe(no_mangle)]
            pub unsafe extern \"C\" fn mdb_x(_a: *mut *const c_char, f: Option<F>) -> c_int { 0 }
            fn helper() {}
            const PRIVATE: c_int = 1;
            pub const MDB_Y: c_uint = 0x1_0000;
        ";
        let found = items(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].comment, ["Kept so."]);
        let Kind::Function(signature) = &found[0].kind else {
            panic!("{found:?}");
        };
        assert_eq!(signature.result, "int");
        let expected = [("const char **", "a"), ("F *", "f")]
            .map(|(one, other)| (one.to_owned(), other.to_owned()));
        assert_eq!(signature.arguments, expected);
        assert_eq!(
            found[1].kind,
            Kind::Constant("unsigned int".to_owned(), "0x10000".to_owned())
        );
    }

    #[test]
    fn functions_of_the_macro_are_found() {
        let text = "
            exported! {
                /// Gets it.
                fn mdb_x(a: *mut MDB_txn) -> c_int { code_of(a, get) }

                /// Ends it.
                fn mdb_y(a: *mut MDB_txn) { value_of(a, (), end) }
            }
        ";
        let found = items(text).unwrap();
        let comments: Vec<_> = found.iter().map(|item| &item.comment[0]).collect();
        assert_eq!(comments, ["Gets it.", "Ends it."]);
        assert!(items("exported! { const X: c_int = 1; }").is_err());
    }

    #[test]
    fn types_that_c_does_not_have_are_refused() {
        assert!(items("pub const MDB_X: &str = \"x\";").is_err());
        assert!(items("pub type MDB_X = (u8, u8);").is_err());
    }
}
