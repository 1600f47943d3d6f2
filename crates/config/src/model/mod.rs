//! The typed model: what can be set, each setting declared once with its key, its type and its default.
//!
//! [`settings!`] makes three things of a declaration: the group as it holds (`Global`), the same as one source said it
//! (`GlobalLayer`), and the way from keys to fields and back, which files, variables and `config show` share.

mod database;
mod features;
mod global;
mod limits;
mod storage;

pub use database::{Content, ContentLayer, Database, DatabaseLayer, Overlay};
pub use global::{AuthzRegexp, Global, GlobalLayer, SchemaPart, ServerId, Threads};
pub use limits::{Policy, PolicyLayer};
pub(crate) use limits::{add_limit, limits_rule};
pub(crate) use storage::parse_mode;
pub use storage::{FileMode, Storage, StorageLayer};

/// Declares a group of settings: `"key" field: Type = default;` and, for what may be said several times,
/// `"key" list: Item;`.
macro_rules! settings {
    (
        $(#[$doc:meta])* $name:ident / $layer:ident
        { $( $(#[$field_doc:meta])* $key:literal $field:ident : $type:ty = $default:expr; )* }
        { $( $(#[$list_doc:meta])* $list_key:literal $list:ident : $item:ty; )* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $( $(#[$field_doc])* pub $field: $crate::Sourced<$type>, )*
            $( $(#[$list_doc])* pub $list: Vec<$crate::Sourced<$item>>, )*
        }

        #[doc = concat!("What one source said of [`", stringify!($name), "`]: nothing where a field is `None` or empty.")]
        #[derive(Clone, Debug, Default)]
        pub struct $layer {
            $( $(#[$field_doc])* pub $field: Option<$crate::Sourced<$type>>, )*
            $( $(#[$list_doc])* pub $list: Vec<$crate::Sourced<$item>>, )*
        }

        impl $layer {
            /// The keys of this group, as files write them.
            pub(crate) const KEYS: &'static [&'static str] = &[$($key,)* $($list_key,)*];

            /// This layer on top of `lower`: what it says holds, `lower` speaks where it is silent.
            #[must_use]
            pub fn over(self, lower: Self) -> Self {
                Self {
                    $( $field: self.$field.or(lower.$field), )*
                    $( $list: if self.$list.is_empty() { lower.$list } else { self.$list }, )*
                }
            }

            /// Fills in the defaults.
            #[must_use]
            pub fn resolve(self) -> $name {
                $name {
                    $( $field: self.$field.unwrap_or_else(|| $crate::Sourced::by_default($default)), )*
                    $( $list: self.$list, )*
                }
            }

            /// Sets a key; `None` if this group has no such key. Errors have the place of the item at fault.
            pub(crate) fn set(
                &mut self,
                key: &str,
                value: $crate::setting::Value,
                origin: &$crate::Origin,
            ) -> Option<Result<(), ($crate::Origin, String)>> {
                match key {
                    $( $key => Some(
                        <$type as $crate::setting::Setting>::read(value)
                            .map(|value| self.$field = Some($crate::Sourced::new(value, origin.clone())))
                            .map_err(|message| (origin.clone(), message))
                    ), )*
                    $( $list_key => Some(
                        $crate::setting::read_list(value, origin).map(|list| self.$list = list)
                    ), )*
                    _ => { let _ = (value, origin); None }
                }
            }
        }

        impl $name {
            /// Each setting with its key, what it is and where that was said; lists an item at a time.
            pub(crate) fn each(&self, show: &mut dyn FnMut(&'static str, String, &$crate::Origin)) {
                $( show($key, $crate::setting::Setting::show(&self.$field.value), &self.$field.origin); )*
                $( for item in &self.$list {
                    show($list_key, $crate::setting::Setting::show(&item.value), &item.origin);
                } )*
            }
        }

        impl Default for $name {
            fn default() -> Self {
                $layer::default().resolve()
            }
        }
    };
}
pub(crate) use settings;
