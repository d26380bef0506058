//! The JSON Schema of a profile: the keys before the groups, and the groups of each kind of disk.
//! The groups' schemas are derived.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::{
    Array, Cache, Controller, DataSheet, Device, EmptiedBy, Flash, Interface, Media,
    PROFILE_FORMAT, Profile, ReadAhead, Seek, WriteBack,
};

/// Groups of every profile, of hard disks, and of flash.
const EVERY: [&str; 4] = [
    Device::GROUP,
    Interface::GROUP,
    Cache::GROUP,
    DataSheet::GROUP,
];
const HARD_DISK: [&str; 4] = [
    Media::GROUP,
    Seek::GROUP,
    ReadAhead::GROUP,
    WriteBack::GROUP,
];
const FLASH: [&str; 1] = [Flash::GROUP];
/// Keys before the groups.
const HEAD: [&str; 6] = ["format", "name", "title", "year", "kind", "description"];

impl JsonSchema for Profile {
    fn schema_name() -> Cow<'static, str> {
        "DiskProfile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text =
            |about: &str| json_schema!({ "description": about, "type": "string", "minLength": 1 });
        let mut properties = Map::new();
        let mut put =
            |name: &str, schema: Schema| properties.insert(name.to_owned(), schema.into());
        put(
            "format",
            json_schema!({
                "description": format!("Version of this format: {PROFILE_FORMAT}."),
                "type": "integer",
                "minimum": 1,
                "maximum": PROFILE_FORMAT
            }),
        );
        put(
            "name",
            json_schema!({
                "description": "Short name: 1 to 64 lower-case letters, digits or `- . +`.",
                "type": "string",
                "pattern": "^[a-z0-9.+-]{1,64}$"
            }),
        );
        put("title", text("Title for lists, one line."));
        put(
            "year",
            json_schema!({
                "description": "Year in which such disks were sold, 1956 to 2100.",
                "type": "integer",
                "minimum": 1956,
                "maximum": 2100
            }),
        );
        put(
            "kind",
            json_schema!({
                "description": "Kind of disk: `hdd` has the groups media, seek, read_ahead and write_back, `flash` the group flash.",
                "enum": ["hdd", "flash"]
            }),
        );
        put(
            "description",
            text("Which disk it is and what it stands for, in a few sentences."),
        );
        put(Device::GROUP, generator.subschema_for::<Device>());
        put(Interface::GROUP, generator.subschema_for::<Interface>());
        put(Cache::GROUP, generator.subschema_for::<Cache>());
        put(Media::GROUP, generator.subschema_for::<Media>());
        put(Seek::GROUP, generator.subschema_for::<Seek>());
        put(ReadAhead::GROUP, generator.subschema_for::<ReadAhead>());
        put(WriteBack::GROUP, generator.subschema_for::<WriteBack>());
        put(Flash::GROUP, generator.subschema_for::<Flash>());
        put(Array::GROUP, generator.subschema_for::<Array>());
        put(Controller::GROUP, generator.subschema_for::<Controller>());
        put(EmptiedBy::GROUP, generator.subschema_for::<EmptiedBy>());
        put(DataSheet::GROUP, generator.subschema_for::<DataSheet>());
        let required = [&HEAD[..], &EVERY[..]].concat();
        let kinds = [
            groups_of("hdd", &HARD_DISK, &FLASH),
            groups_of("flash", &FLASH, &HARD_DISK),
        ];
        json_schema!({
            "title": "DiskProfile",
            "description": "The parameters of a simulated disk, each group with its source. The file disks/NAME.toml.",
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
            "oneOf": kinds
        })
    }
}

/// A disk of `kind` must have the groups `has` and must not have `lacks`.
fn groups_of(kind: &str, has: &[&str], lacks: &[&str]) -> Schema {
    let never = lacks
        .iter()
        .map(|name| ((*name).to_owned(), Value::Bool(false)));
    let mut properties: Map<String, Value> = never.collect();
    properties.insert("kind".to_owned(), json_schema!({ "const": kind }).into());
    json_schema!({ "properties": properties, "required": has })
}
