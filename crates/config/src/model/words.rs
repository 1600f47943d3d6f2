//! Settings that are one word of a few.

/// Declares an enumeration whose variants are written as words: `Variant = "word" | "other word"`; the first word is the
/// one it is shown as.
macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $word:literal $(| $other:literal)*, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $( $(#[$variant_doc])* $variant, )* }

        impl $name {
            /// Reads one of its words.
            ///
            /// # Errors
            /// A clause that lists what there is.
            pub fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $( $word $(| $other)* => Ok(Self::$variant), )*
                    _ => Err(format!("\"{text}\" is none of {}", $crate::model::listed(&[$($word),*]))),
                }
            }

            /// The word it is written as.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
            }
        }

        impl $crate::setting::Setting for $name {
            fn read(value: $crate::setting::Value) -> Result<Self, String> {
                Self::parse(&$crate::setting::text(value)?)
            }

            fn show(&self) -> String {
                self.as_str().to_owned()
            }
        }
    };
}
pub(crate) use word_enum;

/// `a, b and c`.
pub(crate) fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
