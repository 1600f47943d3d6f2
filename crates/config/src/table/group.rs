//! The macro that makes a group of settings from its rows.

/// Declares a group of settings, one row each: `"key" field: Type = default => spec;`.
///
/// A second block declares lists, whose rows have no default: `"key" list: Item => spec;`.
///
/// The macro makes the group (`Global`), the part of it that one source sets (`GlobalLayer`), and
/// the rows.
macro_rules! settings {
    (
        $(#[$doc:meta])* $name:ident / $layer:ident
        { $( $(#[doc = $field_doc:literal])* $key:literal $field:ident : $type:ty = $default:expr => $spec:expr; )* }
        { $( $(#[doc = $list_doc:literal])* $list_key:literal $list:ident : $item:ty => $list_spec:expr; )* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $( $(#[doc = $field_doc])* pub $field: $crate::Sourced<$type>, )*
            $( $(#[doc = $list_doc])* pub $list: Vec<$crate::Sourced<$item>>, )*
        }

        #[doc = concat!("The part of [`", stringify!($name), "`] that one source sets.")]
        #[derive(Clone, Debug, Default)]
        pub struct $layer {
            $( $(#[doc = $field_doc])* pub $field: Option<$crate::Sourced<$type>>, )*
            $( $(#[doc = $list_doc])* pub $list: Vec<$crate::Sourced<$item>>, )*
        }

        impl $name {
            /// The rows of the settings, in the order in which they are shown.
            pub(crate) const SETTINGS: &'static [$crate::table::Row<$layer, $name>] = &[
                $( {
                    const SPEC: $crate::table::Spec<$layer, $name, $type> = $spec;
                    $crate::table::Row {
                        info: $crate::table::Info {
                            key: Some($key),
                            doc: &[$($field_doc),*],
                            kind: <$type as $crate::setting::Setting>::KIND,
                            default: || <$type as $crate::setting::Setting>::toml(&$default),
                            check: $crate::setting::check::<$type>,
                            ..SPEC.info
                        },
                        take: |layer, statement, notes| {
                            if let Some(take) = SPEC.take {
                                return take(layer, statement, notes);
                            }
                            let origin = &statement.origin;
                            if let Some((empty, add)) = SPEC.add {
                                let new = || $crate::Sourced::new(empty(), origin.clone());
                                let field = layer.$field.get_or_insert_with(new);
                                return add(&mut field.value, statement);
                            }
                            let value = SPEC.value(layer, statement)?;
                            layer.$field = Some($crate::Sourced::new(value, origin.clone()));
                            Ok(())
                        },
                        write: |group| match SPEC.write {
                            $crate::table::Write::Value(write) => write(&group.$field.value),
                            $crate::table::Write::Group(write) => write(group),
                        },
                    }
                }, )*
                $( {
                    const SPEC: $crate::table::Spec<$layer, $name, $item> = $list_spec;
                    $crate::table::Row {
                        info: $crate::table::Info {
                            key: Some($list_key),
                            doc: &[$($list_doc),*],
                            kind: "list",
                            default: || Some("[]".to_owned()),
                            check: $crate::setting::check::<$item>,
                            ..SPEC.info
                        },
                        take: |layer, statement, notes| {
                            if let Some(take) = SPEC.take {
                                return take(layer, statement, notes);
                            }
                            let value = SPEC.value(layer, statement)?;
                            let value = $crate::Sourced::new(value, statement.origin.clone());
                            layer.$list.push(value);
                            Ok(())
                        },
                        write: |group| match SPEC.write {
                            $crate::table::Write::Value(write) => {
                                group.$list.iter().flat_map(|item| write(&item.value)).collect()
                            }
                            $crate::table::Write::Group(write) => write(group),
                        },
                    }
                }, )*
            ];

            /// Passes each setting with its key, value and origin to `show`, lists one item at a
            /// time.
            pub(crate) fn each(&self, show: &mut dyn FnMut(&'static str, String, &$crate::Origin)) {
                $( show($key, $crate::setting::Setting::show(&self.$field.value), &self.$field.origin); )*
                $( for item in &self.$list {
                    show($list_key, $crate::setting::Setting::show(&item.value), &item.origin);
                } )*
            }
        }

        impl $layer {
            /// Returns this layer with the settings of `lower` where this one sets nothing.
            #[must_use]
            pub fn over(self, lower: Self) -> Self {
                Self {
                    $( $field: self.$field.or(lower.$field), )*
                    $( $list: if self.$list.is_empty() { lower.$list } else { self.$list }, )*
                }
            }

            /// Passes each setting that the layer sets to `write`, as TOML.
            pub(crate) fn each_toml(&self, write: &mut dyn FnMut(&'static str, String)) {
                $( if let Some(said) = &self.$field
                    && let Some(toml) = $crate::setting::Setting::toml(&said.value)
                {
                    write($key, toml);
                } )*
                $( if !self.$list.is_empty() {
                    let items = self.$list.iter();
                    let items = items.filter_map(|item| $crate::setting::Setting::toml(&item.value));
                    let items: Vec<String> = items.collect();
                    write($list_key, format!("[\n    {},\n]", items.join(",\n    ")));
                } )*
            }

            /// Returns the group, with defaults where this layer sets nothing.
            #[must_use]
            pub fn resolve(self) -> $name {
                $name {
                    $( $field: self.$field.unwrap_or_else(|| $crate::Sourced::by_default($default)), )*
                    $( $list: self.$list, )*
                }
            }

            /// Sets a key. Returns `None` if the group has no such key; errors carry the place of
            /// the wrong item.
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
                    _ => None,
                }
            }
        }

        impl $name {
            /// Returns this group with the settings that differ between two others. So a setting
            /// that `cn=config` cannot express keeps the value that it has here.
            #[must_use]
            pub(crate) fn changed(self, before: &Self, after: Self) -> Self {
                Self {
                    $( $field: match before.$field.value == after.$field.value {
                        true => self.$field,
                        false => after.$field,
                    }, )*
                    $( $list: match before.$list.iter().map(|item| &item.value)
                        .eq(after.$list.iter().map(|item| &item.value))
                    {
                        true => self.$list,
                        false => after.$list,
                    }, )*
                }
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
