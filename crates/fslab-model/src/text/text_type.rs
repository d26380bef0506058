//! Types that are written as one text: serialisation and JSON Schema.

/// Conversions between a type and its text, for serde, and the schema of that text. The type needs
/// `FromStr` and `Display`; serde gets `try_from = "String", into = "String"`.
macro_rules! text_type {
    ($type:ident, $error:ident, { $($schema:tt)* }) => {
        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        $crate::text::text_type::text_schema!($type, { $($schema)* });
    };
}

/// The schema of a type that serde's derive cannot describe.
macro_rules! text_schema {
    ($type:ident, { $($schema:tt)* }) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ $($schema)* })
            }
        }
    };
}

pub(crate) use {text_schema, text_type};
