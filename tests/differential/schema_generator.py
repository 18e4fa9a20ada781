"""Random JSON schemas and instances for json_schema_differential.py.

Names are such that the alphabet is the order in which our grammars write keys: a-f stand in `properties`, p and q may be
required without standing there, x1 to zz are further keys.
"""
NAMED = "abcdef"
ONLY_REQUIRED = "pq"
FURTHER = ("x1", "x22", "y1", "zz", "é\"k")
PATTERNS = ("^[a-c]+$", "b", "^(ab|é){1,2}$", "[0-9]{2}$", "^$|^x", "^(?!aa)[a-z]{2,4}$", "^.{1,3}$")
KEY_PATTERNS = ("^x", "1$", ".*", "^(x|y)[0-9]+$")
TEXTS = ("", "a", "b", "ab", "aab", "abc", "é", "abé", "😀", "12", "a12", "xyz", "longer text", "q\"\\\t", "aa")
FORMATS = {
    "date": ("2024-02-29", "1999-12-31", "2023-02-29", "2024-13-01", "x"),
    "ipv4": ("1.2.3.4", "255.255.255.0", "256.1.1.1", "1.2.3"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567"),
}
NUMBERS = (0, 1, -1, 2, 3, 5, 7, 10, 12, 100, -7, -30, 0.5, 0.25, 2.5, -0.75, 3.1, 9.99, 10.01, 1234567)


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.names = [f"n{i}" for i in range(rng.randrange(3))]

    def chance(self, share):
        return self.rng.random() < share

    def schema(self):
        root = self.part(3)
        if self.names:
            root = {"$defs": {name: self.part(2) for name in self.names}, **root}
        return root

    def part(self, depth):
        kinds = ["string", "number", "integer", "simple", "enum", "types"]
        if depth > 0:
            kinds += ["array", "object", "object", "object", "anyOf", "oneOf", "allOf"]
        if self.names:
            kinds += ["ref"]
        return getattr(self, "make_" + self.rng.choice(kinds))(depth)

    def bounds(self, schema, low, high, values):
        if self.chance(0.4):
            schema[low] = self.rng.choice(values)
        if self.chance(0.4):
            schema[high] = self.rng.choice(values)
        return schema

    def make_string(self, _depth):
        schema = self.bounds({"type": "string"}, "minLength", "maxLength", range(6))
        if self.chance(0.4):
            schema["pattern"] = self.rng.choice(PATTERNS)
        elif self.chance(0.2):
            schema["format"] = self.rng.choice(list(FORMATS))
        return schema

    def make_number(self, _depth):
        low = self.rng.choice(("minimum", "exclusiveMinimum"))
        high = self.rng.choice(("maximum", "exclusiveMaximum"))
        schema = self.bounds({"type": "number"}, low, high, NUMBERS)
        if self.chance(0.2):
            schema["multipleOf"] = self.rng.choice((0.5, 0.25, 3, 10))
        return schema

    def make_integer(self, depth):
        return {**self.make_number(depth), "type": "integer"}

    def make_simple(self, _depth):
        return self.rng.choice(({"type": "boolean"}, {"type": "null"}, {}, {"const": "é\n"}, {"const": [1, {"a": 2}]}))

    def make_enum(self, _depth):
        values = self.rng.sample([*TEXTS, 1, 2.5, None, True, [1, "a"], {"a": 1}], self.rng.randrange(1, 6))
        return {"enum": values}

    def make_types(self, _depth):
        return {"type": self.rng.sample(["string", "integer", "boolean", "null", "array", "object"], 2)}

    def make_ref(self, _depth):
        return {"$ref": "#/$defs/" + self.rng.choice(self.names)}

    def make_array(self, depth):
        schema = self.bounds({"type": "array"}, "minItems", "maxItems", range(4))
        if self.chance(0.7):
            schema["items"] = self.part(depth - 1)
        if self.chance(0.3):
            schema["prefixItems"] = [self.part(depth - 1) for _ in range(self.rng.randrange(1, 3))]
        return schema

    def make_object(self, depth):
        names = sorted(self.rng.sample(NAMED, self.rng.randrange(5)))
        schema = {"type": "object", "properties": {name: self.part(depth - 1) for name in names}}
        required = [name for name in [*names, *ONLY_REQUIRED] if self.chance(0.4 if name in names else 0.1)]
        if required:
            schema["required"] = required
        if self.chance(0.6):
            schema["additionalProperties"] = self.rng.choice((False, False, True, self.part(depth - 1)))
        if self.chance(0.2):
            patterns = self.rng.sample(KEY_PATTERNS, self.rng.randrange(1, 3))
            schema["patternProperties"] = {pattern: self.part(depth - 1) for pattern in patterns}
        if self.chance(0.15):
            schema["minProperties"] = self.rng.randrange(3)
        if self.chance(0.15):
            schema["maxProperties"] = self.rng.randrange(4)
        return schema

    def make_anyOf(self, depth):
        return {"anyOf": [self.part(depth - 1) for _ in range(self.rng.randrange(1, 4))]}

    def make_oneOf(self, depth):
        if self.chance(0.5):
            branches = [self.make_string(depth), self.make_integer(depth), self.make_array(depth), {"type": "null"}]
            return {"oneOf": self.rng.sample(branches, 2)}
        branches = []
        for tag in ("t1", "t2", "t3"):
            branch = self.make_object(depth)
            branch["properties"] = {"a": {"const": tag}, **{k: v for k, v in branch["properties"].items() if k != "a"}}
            branch["required"] = sorted({"a", *branch.get("required", [])} & set(branch["properties"]))
            branches.append(branch)
        return {"oneOf": branches}

    def make_allOf(self, depth):
        whole = self.part(depth - 1)
        extras = [self.make_string(0), self.make_integer(0), {"maxProperties": 2}, {"minItems": 1}, {"type": "object"},
                  {"required": ["a"]} if "a" in whole.get("properties", {}) else {}]
        return {"allOf": [whole, {k: v for k, v in self.rng.choice(extras).items() if self.chance(0.8)}]}

    # --- instances ---

    def instance(self, schema, root, depth=0):
        """Mostly near the schema; sometimes anything."""
        if depth > 6 or self.chance(0.06) or not isinstance(schema, dict):
            return self.anything(depth)
        if "$ref" in schema:
            return self.instance(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, depth + 1)
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return self.instance(self.rng.choice(schema[choice]), root, depth + 1)
        if "allOf" in schema:
            return self.instance(schema["allOf"][0], root, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        return self.typed(schema, root, depth)

    def typed(self, schema, root, depth):
        kind = schema.get("type", "null")
        kind = self.rng.choice(kind) if isinstance(kind, list) else kind
        if kind == "string":
            return self.rng.choice(FORMATS.get(schema.get("format"), TEXTS))
        if kind in ("integer", "number"):
            near = [schema[k] for k in schema if k.startswith(("min", "max", "excl"))]
            number = self.rng.choice([*NUMBERS, *near, *(x + 1 for x in near), *(x - 1 for x in near)])
            return int(number) if kind == "integer" or number == int(number) else number
        if kind == "array":
            count = self.rng.randrange(4)
            prefix = schema.get("prefixItems", [])
            return [self.instance(prefix[i] if i < len(prefix) else schema.get("items", {}), root, depth + 1)
                    for i in range(count)]
        if kind == "object":
            return self.object(schema, root, depth)
        return {"boolean": self.chance(0.5)}.get(kind)

    def object(self, schema, root, depth):
        value = {}
        for name, inner in schema.get("properties", {}).items():
            if self.chance(0.95 if name in schema.get("required", []) else 0.5):
                value[name] = self.instance(inner, root, depth + 1)
        for name in schema.get("required", []):
            if name not in value and self.chance(0.9):
                value[name] = self.anything(depth)
        others = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties", {})]
        for name in FURTHER:
            if self.chance(0.15):
                value[name] = self.instance(self.rng.choice(others), root, depth + 1)
        return dict(sorted(value.items()))

    def anything(self, depth):
        simple = [None, True, False, *TEXTS, *(n for n in NUMBERS)]
        if depth < 3 and self.chance(0.3):
            return self.rng.choice(([], {}, [1, "a"], {"a": 1}, {"x1": None}))
        return self.rng.choice(simple)
