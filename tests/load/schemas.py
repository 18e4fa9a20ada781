"""Twelve schemas of different kinds, each with what is asked of the model."""


def closed(properties, required=None, **more):
    """An object that holds these properties alone."""
    return {"type": "object", "properties": properties, "required": required or list(properties),
            "additionalProperties": False, **more}


NAME = {"type": "string", "minLength": 1, "maxLength": 20}

NESTED = closed({
    "person": closed({
        "name": NAME,
        "home": closed({"street": {"type": "string", "maxLength": 30},
                        "city": closed({"name": NAME, "country": {"type": "string", "maxLength": 20}})}),
        "age": {"type": "integer"}}),
    "active": {"type": "boolean"}})

ENUM = closed({"colour": {"enum": ["red", "green", "blue", "deep purple"]},
               "size": {"enum": [1, 2.5, None, True, "large", ["a", "b"], {"x": 1}]},
               "fixed": {"const": "always \"this\""}})

ARRAYS = closed({"tags": {"type": "array", "items": {"type": "string", "maxLength": 10}, "minItems": 2, "maxItems": 4},
                 "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "items": False,
                          "minItems": 2},
                 "grid": {"type": "array", "items": {"type": "array", "items": {"enum": [0, 1]}, "minItems": 3,
                                                     "maxItems": 3},
                          "minItems": 2, "maxItems": 3}})

ONE_OF = closed({"shape": {"oneOf": [
    closed({"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0, "maximum": 100}}),
    closed({"kind": {"const": "square"}, "side": {"type": "number", "exclusiveMinimum": 0, "maximum": 100}}),
    closed({"kind": {"enum": ["line", "arrow"]},
            "points": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "minItems": 4,
                       "maxItems": 4}})]},
    "note": {"oneOf": [{"type": "string", "maxLength": 20}, {"type": "null"}, {"type": "boolean"}]}})

NUMBERS = closed({"percent": {"type": "integer", "minimum": 0, "maximum": 100},
                  "below": {"type": "integer", "exclusiveMaximum": -5, "minimum": -123},
                  "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                  "celsius": {"type": "number", "minimum": -273.15, "maximum": 99.5},
                  "dozens": {"type": "integer", "multipleOf": 12, "minimum": 1, "maximum": 1000}})

UNICODE = closed({"naïve": {"type": "string", "maxLength": 12},
                  "名前": {"type": "string", "minLength": 2, "maxLength": 8},
                  "emoji 🎈": {"enum": ["🙂", "\"quoted\"", "tab\there", "Ελλάδα"]},
                  "back\\slash": {"type": "integer", "minimum": 1, "maximum": 3}})

RECURSION = {"$defs": {"tree": closed({"value": {"type": "integer", "minimum": 0, "maximum": 99},
                                       "children": {"type": "array", "items": {"$ref": "#/$defs/tree"},
                                                    "maxItems": 3}})},
             "$ref": "#/$defs/tree"}

PATTERN = closed({"plate": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{2,4}$"},
                  "version": {"type": "string", "pattern": "^v(0|[1-9][0-9]*)\\.[0-9]+(-(alpha|beta))?$",
                              "maxLength": 12},
                  "has_at": {"type": "string", "pattern": "@", "maxLength": 15}})

FORMATS = closed({"day": {"type": "string", "format": "date"},
                  "id": {"type": "string", "format": "uuid"},
                  "host": {"type": "string", "format": "ipv4"},
                  "mail": {"type": "string", "format": "email"}})

NULLABLE = closed({"title": {"type": ["string", "null"], "maxLength": 25},
                   "score": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 5}, {"type": "null"}]},
                   "flags": {"type": ["array", "boolean"], "items": {"type": "boolean"}, "maxItems": 3},
                   "optional": {"type": "string", "maxLength": 10}}, required=["title", "score", "flags"])

MAPS = {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1, "maximum": 9999}}, "required": ["id"],
        "patternProperties": {"^x_[a-z]{1,4}$": {"type": "integer", "minimum": 0, "maximum": 9}},
        "additionalProperties": {"type": "string", "maxLength": 8}, "maxProperties": 4}

ALL_OF = {"allOf": [{"$ref": "#/$defs/named"}, {"properties": {"level": {"enum": ["low", "high"]}},
                                                "required": ["level"]}],
          "$defs": {"named": {"type": "object", "properties": {"name": {"type": "string", "minLength": 3},
                                                               "level": {"type": "string"}},
                              "required": ["name"]}},
          "properties": {"name": {"maxLength": 16}}, "additionalProperties": True, "maxProperties": 3}

SCHEMAS = {
    "nested": (NESTED, "Describe a person as JSON."),
    "enum": (ENUM, "Describe a shirt as JSON."),
    "arrays": (ARRAYS, "Give some tags and a grid as JSON."),
    "oneOf": (ONE_OF, "Describe a drawing as JSON."),
    "numbers": (NUMBERS, "Report measurements as JSON."),
    "unicode keys": (UNICODE, "Fill in the form as JSON."),
    "recursion": (RECURSION, "Write a tree of numbers as JSON."),
    "pattern": (PATTERN, "Describe a car and its software as JSON."),
    "format": (FORMATS, "Describe an account as JSON."),
    "nullable": (NULLABLE, "Rate a film as JSON."),
    "maps": (MAPS, "Write a record with some further fields as JSON."),
    "allOf": (ALL_OF, "Describe a hero as JSON."),
}
