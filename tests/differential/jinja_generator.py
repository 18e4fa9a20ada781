"""Random templates over what chat templates use, typed so that most of them run, and wild enough to fail at times."""

NAMES = ["xs", "ys", "ms", "d", "e", "s", "u", "n", "t", "i", "f", "big"]
WORDS = ["alpha", "Beta", "gamma delta", "x", "", " pad ", "two\nlines", "tab\there", "it's", 'say "hi"', "a,b,,c",
         "<b>&amp;</b>", "<|im_start|>", "naïve", "ÉCOLE", "straße", "日本語", "😀 smile", "İstanbul", "ΟΔΟΣ", "ǆ ﬁ",
         "1", "-42", "3.5", "1e3", "0x1f", "1_000", "abcabc", "Hello World foo", "no-break", "\u200b", "\x1b[0m",
         "a\r\nb", "xx--yy", "http://example.com/a?b=c", "user@example.org", "%s and %d", "{} {}", "/no_think"]


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.macros = []      # (name, number of arguments)
        self.locals = {}      # name -> kind, as far as known
        self.depth = 0
        self.loops = 0
        self.captured = 0     # within text that is captured: no generation blocks there
        self.in_function = 0  # break and continue have no loop there

    # ---- helpers ----

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, probability):
        return self.rng.random() < probability

    def quote(self, text):
        out = []
        for c in text:
            if c in "\\'":
                out.append("\\" + c)
            elif c == "\n":
                out.append("\\n")
            elif c == "\t":
                out.append("\\t")
            elif c == "\r":
                out.append("\\r")
            elif ord(c) < 32 or self.chance(0.02):
                out.append("\\x%02x" % ord(c) if ord(c) < 256 else ("\\u%04x" % ord(c) if ord(c) < 65536 else c))
            else:
                out.append(c)
        text = "".join(out)
        if self.chance(0.3) and '"' not in text:
            return '"' + text.replace("\\'", "'") + '"'
        return "'" + text + "'"

    # ---- contexts ----

    def word(self):
        return self.rng.choice(WORDS)

    def scalar(self):
        return self.pick(self.rng.randint(-20, 300), self.rng.choice([0, 1, 2, 10**16, 2**63, -(2**70)]), self.word(), self.word(),
                         round(self.rng.uniform(-50, 50), self.rng.randint(0, 4)), None, True, False, 1e16, 0.1, 1e-7)

    def value(self, depth=2):
        kind = self.rng.random()
        if depth == 0 or kind < 0.55:
            return self.scalar()
        if kind < 0.8:
            return [self.value(depth - 1) for _ in range(self.rng.randint(0, 4))]
        return {self.word(): self.value(depth - 1) for _ in range(self.rng.randint(0, 4))}

    def message(self):
        out = {"role": self.pick("system", "user", "assistant", "tool"), "content": self.word()}
        if self.chance(0.2):
            out["content"] = self.pick(None, [{"type": "text", "text": self.word()}], 5)
        if self.chance(0.3):
            out["n"] = self.rng.randint(0, 9)
        if self.chance(0.3):
            out["x"] = {"y": self.scalar(), "items": [1, 2]}
        return out

    def context(self):
        r = self.rng
        variables = {
            "xs": [r.randint(-5, 20) for _ in range(r.randint(0 if self.chance(0.2) else 1, 6))],
            "ys": [self.word() for _ in range(r.randint(0 if self.chance(0.2) else 1, 5))],
            "ms": [self.message() for _ in range(r.randint(0 if self.chance(0.1) else 1, 4))],
            "d": {self.pick("a", "b", "c", "role", "Z", "items", "k-1"): self.value(1) for _ in range(r.randint(0, 4))},
            "e": self.pick([], {}, ""),
            "s": self.word() + self.pick("", " ", "\n") + self.word(),
            "u": self.value(),
            "n": None,
            "t": r.random() < 0.5,
            "i": r.randint(-10, 50),
            "f": self.pick(2.5, -0.5, 3.0, 1e20, 0.1, 7.25),
            "big": self.pick(2**64, 10**25, -(10**19), 2**53 + 1),
        }
        for name in list(variables):
            if self.chance(0.04):
                del variables[name]
            elif self.chance(0.03):
                variables[name] = self.value()
        return variables

    # ---- expressions ----

    def deeper(self):
        return self.depth < 4 and self.chance(0.75 - 0.13 * self.depth)

    def expr(self, kind=None):
        """An expression of a kind: int num str list dict bool any."""
        if self.chance(0.015):
            kind = "any"
        kind = kind or self.pick("int", "num", "str", "str", "str", "list", "list", "dict", "bool", "any")
        if self.chance(0.08):
            known = [name for name, k in self.locals.items() if k == kind]
            if known:
                return self.rng.choice(known)
        self.depth += 1
        try:
            return getattr(self, "expr_" + kind)()
        finally:
            self.depth -= 1

    def group(self, kind=None):
        """An expression that may stand before a filter or an operator."""
        text = self.expr(kind)
        simple = text.isidentifier() or text[-1] in ")]}" and text[0] in "([{"
        return text if simple and self.chance(0.7) else "(" + text + ")"

    def expr_any(self):
        if not self.deeper():
            return self.pick("none", "true", self.rng.choice(NAMES), self.rng.choice(NAMES), "u", "nope", "5", "''", "[]")
        return self.pick(
            lambda: self.expr(self.pick("int", "str", "list", "dict", "bool", "num")),
            lambda: f"{self.group('dict')}.{self.pick('a', 'b', 'role', 'content', 'items', 'zz', 'x.y')}",
            lambda: f"{self.group('dict')}[{self.expr('str')}]",
            lambda: f"{self.group('list')}[{self.expr('int')}]",
            lambda: f"{self.group('list')}|{self.pick('first', 'last', 'min', 'max')}",
            lambda: f"{self.group('any')}|default({self.expr('any')}{self.pick('', ', true', ', boolean=true')})",
            lambda: f"{self.expr('any')} if {self.expr('bool')}{self.pick('', ' else ' + self.expr('any'))}",
            lambda: f"({self.expr('any')} {self.pick('and', 'or')} {self.expr('any')})",
            lambda: f"{self.group('dict')}.get({self.expr('str')}{self.pick('', ', ' + self.expr('any'))})",
            lambda: f"{self.group('any')}|attr({self.quote(self.pick('a', 'upper', 'items', '__class__'))})",
            lambda: f"{self.group('any')} {self.pick('+', '-', '*', '//', '%', '/')} {self.group('any')}",
            lambda: f"({self.expr('any')}, {self.expr('any')})",
            lambda: f"{self.group('any')}.{self.pick('upper', 'get', 'real', 'append', '__class__', 'x', 'count')}",
        )()

    def expr_int(self):
        if not self.deeper():
            return self.pick("i", str(self.rng.randint(0, 30)), str(self.rng.randint(-9, 9)), "1_000", "0x1F", "big",
                             "xs|length", "loop.index" if self.loops else "3", "100000000000000000000")
        return self.pick(
            lambda: f"{self.group('int')} {self.pick('+', '-', '*', '//', '%')} {self.group('int')}",
            lambda: f"{self.group(self.pick('list', 'str', 'dict'))}|{self.pick('length', 'count')}",
            lambda: f"{self.group('any')}|int{self.pick('', '(7)', '(default=-1)', '(0, 16)', '(base=2)')}",
            lambda: f"{self.group('int')}|abs",
            lambda: f"{self.group('list')}|sum{self.pick('', '(start=10)')}",
            lambda: f"{self.group('str')}.{self.pick('find', 'count', 'rfind', 'index')}({self.expr('str')}{self.pick('', ', 1', ', -3', ', 0, 5')})",
            lambda: f"{self.group('list')}.{self.pick('count', 'index')}({self.expr('any')})",
            lambda: f"{self.group('int')} ** {self.rng.randint(0, 12)}",
            lambda: f"-{self.group('int')}",
            lambda: f"{self.group('num')}|round|int",
            lambda: f"{self.group('str')}|wordcount",
            lambda: f"{self.group('int')}.bit_length()",
        )()

    def expr_num(self):
        if not self.deeper():
            return self.pick("f", "2.5", "1e3", "0.1", "1e16", "1e-5", "i", "3", "1.5e300", "123456789.123")
        return self.pick(
            lambda: self.expr("int"),
            lambda: f"{self.group('num')} {self.pick('+', '-', '*', '/', '//', '%')} {self.group('num')}",
            lambda: f"{self.group('any')}|float{self.pick('', '(1.5)')}",
            lambda: f"{self.group('num')}|round{self.pick('', '(2)', '(-1)', '(1, ' + self.quote('ceil') + ')', '(0, ' + self.quote('floor') + ')', '(precision=3)')}",
            lambda: f"{self.group('num')}|abs",
            lambda: f"{self.group('int')} / {self.group('int')}",
            lambda: f"{self.group('list')}|sum",
        )()

    def expr_bool(self):
        if not self.deeper():
            return self.pick("t", "true", "false", "not t", "xs", "s", "nope", "1 == 1", "loop.first" if self.loops else "n")
        test = self.pick("defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence",
                         "iterable", "callable", "true", "false", "odd", "even", "lower", "upper", "escaped", "filter", "test",
                         "divisibleby 3", "divisibleby(2)", "eq 1", "equalto(2)", "ne 1", "gt 1", "lt(5)", "ge 0", "le 3",
                         "in xs", "in(ys)", "sameas none", "greaterthan 2", "lessthan 9")
        return self.pick(
            lambda: f"{self.group('any')} is {self.pick('', 'not ')}{test}",
            lambda: f"{self.group('any')} is {self.pick('defined', 'none', 'string', 'mapping', 'number')}",
            lambda: f"{self.group('int')} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.group('num')}",
            lambda: f"{self.group('str')} {self.pick('<', '==', '!=', '>=')} {self.group('str')}",
            lambda: f"{self.expr('any')} {self.pick('==', '!=')} {self.expr('any')}",
            lambda: f"{self.group('int')} < {self.group('int')} <= {self.group('int')}",
            lambda: f"{self.group('str')} {self.pick('in', 'not in')} {self.group(self.pick('str', 'list', 'dict'))}",
            lambda: f"{self.group('any')} in {self.group('list')}",
            lambda: f"not {self.group('bool')}",
            lambda: f"({self.expr('bool')} {self.pick('and', 'or')} {self.expr('bool')})",
            lambda: f"{self.group('str')}.{self.pick('startswith', 'endswith')}({self.pick(self.expr('str'), '(' + self.expr('str') + ', ' + self.quote('a') + ')')})",
            lambda: f"{self.group('str')}.{self.pick('isdigit', 'isalpha', 'isupper', 'islower', 'isspace', 'istitle', 'isalnum', 'isnumeric', 'isdecimal', 'isidentifier', 'isprintable', 'isascii')}()",
        )()

    def expr_str(self):
        if not self.deeper():
            return self.leaf_str()
        return self.pick(
            lambda: f"{self.group('any')} ~ {self.group('any')}{self.pick('', ' ~ ' + self.group('int'))}",
            lambda: f"{self.group('str')} + {self.group('str')}",
            lambda: f"{self.group('str')} * {self.rng.randint(0, 3)}",
            lambda: f"{self.group('str')}{self.slice()}",
            lambda: f"{self.group('str')}|{self.text_filter()}",
            lambda: f"{self.group('str')}|{self.text_filter()}",
            lambda: f"{self.group('str')}.{self.text_method()}",
            lambda: f"{self.group('str')}.{self.text_method()}",
            lambda: f"{self.group('any')}|string",
            lambda: f"{self.group('any')}|tojson{self.json_arguments()}",
            lambda: f"{self.group('list')}|join{self.pick('', '(' + self.expr('str') + ')', '(d=' + self.quote(', ') + ')')}",
            lambda: f"{self.group('str')}.join({self.group('list')}|map('string'))",
            lambda: f"ms|map(attribute={self.quote(self.pick('role', 'content', 'x.y', 'n'))})|join('|')",
            lambda: self.formatted(),
            lambda: self.macro_call(),
            lambda: f"{self.expr('str')} if {self.expr('bool')} else {self.expr('str')}",
            lambda: f"strftime_now({self.quote(self.pick('%d %B %Y', '%Y-%m-%d', '%H:%M %p %j %a', '%-d/%m %y %% %e', '%U %W %w %I:%S'))})",
            lambda: f"{self.group('any')}|pprint",
        )()

    def leaf_str(self):
        return self.pick("s", self.quote(self.word()), self.quote(self.word()), "s", "ys[0]", "u", "ms[0].content", "ms[0]['role']",
                         "(s|safe)", self.quote(self.word()) + " " + self.quote(self.word()))

    def slice(self):
        part = lambda: self.pick("", "", str(self.rng.randint(-4, 6)), "i", "none")
        step = self.pick("", "", ":", ":2", ":-1", ":-2", ":" + part())
        return f"[{part()}:{part()}{step}]"

    def text_filter(self):
        return self.pick(
            "upper", "lower", "title", "capitalize", "trim", "trim('x')", "string", "reverse", "e", "escape", "forceescape",
            "striptags", "urlencode", "center(20)", "center", "indent", "indent(2, true)", "indent(width=3, blank=true)",
            "indent('>>')", "truncate(8)", "truncate(9, true)", "truncate(7, false, '..', 0)", "wordwrap(7)", "wordwrap(5, false)",
            "safe", "urlize", "first", "last", "default('x')", "length", "list|join('-')",
            f"replace({self.quote(self.word())}, {self.quote(self.word())})", f"replace('a', 'b', {self.rng.randint(-1, 2)})",
            f"default({self.quote(self.word())}, true)", f"trim({self.quote(self.word())})", "filesizeformat",
            f"format({self.expr('any')})", "xmlattr", "safe|replace('a', '<')", "wordcount")

    def text_method(self):
        return self.pick(
            "upper()", "lower()", "title()", "capitalize()", "swapcase()", "casefold()", "strip()", "lstrip()", "rstrip()",
            f"strip({self.quote(self.word())})", "lstrip('\\n')", "rstrip(' x')", f"replace({self.quote(self.word())}, {self.expr('str')})",
            "replace('a', 'b', 1)", "replace('', '-')", f"split({self.quote(self.word() or 'x')})[0]", "split()[-1]", "split('a', 1)[-1]",
            "rsplit(' ', 1)[0]", "zfill(8)", "ljust(9, '.')", "rjust(9)", "center(9, '*')", "expandtabs(4)", "splitlines()|join('|')",
            f"partition({self.quote(self.word() or 'y')})[2]", "rpartition(' ')[0]", "removeprefix('a')", "removesuffix('c')",
            f"join({self.expr('list')})", f"format({self.expr('any')}, {self.expr('any')})", "encode('utf-8')", "translate({97: 'x'})",
            "__len__()", "nope()", "split(' ')|length", "isupper()")

    def json_arguments(self):
        return self.pick("", "", "", "(indent=2)", "(ensure_ascii=true)", "(sort_keys=true)", "(separators=(',', ':'))", "(indent=4, sort_keys=true)",
                         "(indent='\\t')", "(true)", "(indent=0)")

    def formatted(self):
        directive = self.pick("%s", "%r", "%d", "%5d", "%-5d|", "%05d", "%+d", "%x", "%X", "%o", "%#x", "%e", "%.3e", "%f", "%.2f", "%8.3f", "%-9.1f|",
                              "%g", "%.3g", "%G", "%c", "%%", "%5s", "%-5s|", "%.2s", "%i", "% d", "%a", "%s %s", "%d%%", "%*d")
        spec = self.pick("", "", ">8", "<8", "^9", "*^9", "05", ",", "_", ".2f", "8.3f", "e", ".3g", "x", "#x", "b", "o", "%", ".1%", "+", "d", "n",
                         "010,.2f", "s", "c", ".3", "+08.2f", "=+9", "G", " d", "5")
        conversion = self.pick("", "", "", "!r", "!s", "!a")
        field = self.pick("", "0", "a", "0.role", "0[0]", "a[b]")
        return self.pick(
            lambda: f"{self.quote(directive)} % {self.group(self.pick('int', 'num', 'str', 'any', 'any'))}",
            lambda: f"{self.quote(directive + ' %s')} % ({self.expr('any')}, {self.expr('any')})",
            lambda: f"{self.quote('%(a)s ' + directive.replace('%', '%(b)', 1))} % {{'a': {self.expr('any')}, 'b': {self.expr('any')}}}",
            lambda: f"{self.quote(directive)}|format({self.expr(self.pick('int', 'num', 'str'))})",
            lambda: f"{self.quote('{' + field + conversion + (':' + spec if spec else '') + '}')}.format({self.expr(self.pick('int', 'num', 'str', 'any'))}, a={self.expr('any')})",
            lambda: f"{self.quote('{:' + spec + '}')}.format({self.expr(self.pick('int', 'num', 'num', 'str'))})",
            lambda: f"{self.quote('{:{}}')}.format({self.expr('any')}, {self.quote(spec)})",
        )()

    def expr_list(self):
        if not self.deeper():
            return self.pick("xs", "ys", "ms", "[]", "[1, 2, 3]", "range(4)", "range(1, 9, 3)", "e", "d|list", "('a', 1)", "['b', 'A', 'c']",
                             "[3, 1, 2.5, true]", "d.values()", "[none, 1]")
        return self.pick(
            lambda: "[" + ", ".join(self.expr("any") for _ in range(self.rng.randint(0, 4))) + self.pick("]", "]", ",]" if self.chance(0.3) else "]"),
            lambda: "[" + ", ".join(self.expr("int") for _ in range(self.rng.randint(1, 5))) + "]",
            lambda: f"{self.group('list')} + {self.group('list')}",
            lambda: f"{self.group('list')}{self.slice()}",
            lambda: f"{self.group('list')}|sort{self.pick('', '(true)', '(reverse=true)', '(case_sensitive=true)')}",
            lambda: f"{self.group('list')}|{self.pick('reverse', 'unique', 'list')}|list",
            lambda: f"{self.group('list')}|map({self.quote(self.pick('string', 'upper', 'int', 'length', 'first', 'tojson', 'abs', 'nope', 'trim'))})|list",
            lambda: f"{self.group('list')}|{self.pick('select', 'reject')}{self.selection()}|list",
            lambda: f"ms|{self.pick('selectattr', 'rejectattr')}({self.quote(self.pick('role', 'n', 'x', 'x.y', 'zz'))}{self.attribute_test()})|list",
            lambda: f"ms|map(attribute={self.quote(self.pick('role', 'content', 'n', 'x.items', 'zz'))}{self.pick('', ', default=' + self.quote('-'))})|list",
            lambda: f"ms|sort(attribute={self.quote(self.pick('role', 'n', 'role,content', 'content'))})",
            lambda: f"ms|groupby({self.quote(self.pick('role', 'n'))}{self.pick('', ', default=0')})",
            lambda: f"{self.group('list')}|batch({self.rng.randint(1, 3)}{self.pick('', ', 0')})|list",
            lambda: f"{self.group('list')}|slice({self.rng.randint(1, 3)}{self.pick('', ', ' + self.quote('-'))})|list",
            lambda: f"{self.group('dict')}|dictsort{self.pick('', '(true)', '(false, ' + self.quote('value') + ')', '(reverse=true)')}",
            lambda: f"{self.group('dict')}.{self.pick('items', 'keys', 'values')}(){self.pick('', '|list')}",
            lambda: f"{self.group('dict')}|items|list",
            lambda: f"{self.group('str')}.split({self.pick('', self.quote(self.word() or ','))})",
            lambda: f"{self.group('str')}.{self.pick('splitlines()', 'rsplit(none, 1)', 'partition(' + self.quote(' ') + ')', 'split(maxsplit=1)')}",
            lambda: f"{self.group('str')}|list",
            lambda: f"range({self.expr('int')} % 7){self.pick('', '|list')}",
            lambda: f"{self.group('list')} * {self.rng.randint(0, 2)}",
            lambda: f"({self.expr('any')},)",
        )()

    def selection(self):
        return self.pick("", "('odd')", "('defined')", "('string')", "('none')", "('gt', 1)", "('in', xs)", "('equalto', 2)", "('>', 2)", "('nope')",
                         "('divisibleby', 2)", "('mapping')", "('number')", "('lower')")

    def attribute_test(self):
        return self.pick("", ", 'defined'", ", 'equalto', 'user'", ", 'eq', 2", ", 'in', ['user', 'tool']", ", 'none'", ", 'gt', 1", ", 'string'")

    def expr_dict(self):
        if not self.deeper():
            return self.pick("d", "ms[0]", "{}", "{'a': 1, 'b': [2]}", "ms|first", "e", "u", "dict(a=1)", "{'B': 2, 'a': 1, 3: none}", "d")
        return self.pick(
            lambda: "{" + ", ".join(f"{self.pick(self.expr('str'), self.quote('k'), self.expr('int'))}: {self.expr('any')}" for _ in range(self.rng.randint(0, 3))) + "}",
            lambda: f"dict({self.expr('dict')}, {self.pick('a', 'zz')}={self.expr('any')})",
            lambda: f"dict(a={self.expr('any')}, b={self.expr('any')})",
            lambda: f"{self.group('dict')}.copy()",
            lambda: f"dict({self.group('list')}|batch(2)|list)",
            lambda: f"{self.group('list')}|first",
        )()

    def macro_call(self):
        if not self.macros:
            return self.expr("str")
        name, count = self.rng.choice(self.macros)
        args = [self.expr("any") for _ in range(self.rng.randint(0, count + (1 if self.chance(0.1) else 0)))]
        if self.chance(0.2):
            args.append(f"{self.pick('p0', 'p1', 'zz')}={self.expr('any')}")
        return f"{name}({', '.join(args)})"

    # ---- statements ----

    def open_tag(self):
        return "{%" + self.pick("", "", "", "-", "-", "+" if self.chance(0.3) else "")

    def close_tag(self):
        return self.pick("", "", "", "-", "-", "+" if self.chance(0.3) else "") + "%}"

    def tag(self, text):
        return f"{self.open_tag()} {text} {self.close_tag()}"

    def data(self, _depth=0):
        return self.pick("text", " ", "\n", "\n\n", "  \n  ", "a\n", "<|im_start|>", "é", "\t", "} %}", "{ x }", "# no\n", "\n    ", "end.", "'")

    def body(self, depth):
        return "".join(self.statement(depth - 1) for _ in range(self.rng.randint(1, 3)))

    def statement(self, depth=3):
        roll = self.rng.random()
        if depth <= 0 or roll < 0.3:
            return self.pick(self.output, self.output, self.output, self.data, self.comment)()
        kinds = [self.for_loop, self.for_loop, self.for_loop, self.if_else, self.if_else, self.set_value, self.set_value, self.set_value, self.set_block,
                 self.macro, self.call_block, self.filter_block, self.with_block, self.namespace, self.generation, self.raw, self.data, self.output,
                 self.control, self.failure]
        return self.rng.choice(kinds)(depth)

    def output(self, _depth=0):
        return f"{{{{{self.pick('', '', '', '-')} {self.expr()} {self.pick('', '', '', '-')}}}}}"

    def comment(self, _depth=0):
        return "{#" + self.pick("", "-") + " note " + self.pick("", "-") + "#}" + self.pick("", "\n", " ")

    def raw(self, _depth):
        return "{% raw " + self.pick("", "-") + "%} {{ x }} {% if %}{% endraw %}"

    def failure(self, _depth):
        return self.tag(f"if {self.expr('bool')}") + "{{ raise_exception(" + self.expr("str") + ") }}" + self.tag("endif") if self.chance(0.15) else self.data()

    def control(self, _depth):
        if self.loops and not self.in_function:
            return self.tag(f"if {self.expr('bool')}") + self.tag(self.pick("break", "continue")) + self.tag("endif")
        return self.data()

    def for_loop(self, depth):
        saved = dict(self.locals)
        target, source = self.pick(
            ("x", self.expr("list")), ("x", self.expr("list")), ("x", "xs"), ("m", "ms"), ("x", "ys"), ("x", self.expr("any")), ("c", self.expr("str")),
            ("k, v", f"{self.group('dict')}.items()"), ("(k, v)", f"{self.group('dict')}|dictsort"), ("a, b", f"{self.group('list')}|batch(2)"),
            ("k, v", f"{self.group('dict')}|items"), ("g", "ms|groupby('role')"), ("i", "range(3)"))
        for name in target.replace("(", "").replace(")", "").split(", "):
            self.locals[name] = {"x": "any", "m": "dict", "c": "str", "k": "str", "v": "any", "g": "list", "i": "int"}.get(name, "any")
        condition = f" if {self.expr('bool').replace('loop.', 'xs.')}" if self.chance(0.2) else ""
        recursive = " recursive" if self.chance(0.06) else ""
        self.loops += 1
        saved_function, self.in_function = self.in_function, 0
        inner = self.body(depth)
        if self.chance(0.35):
            inner += "{{ loop." + self.pick("index", "index0", "first", "last", "length", "revindex", "revindex0", "depth", "previtem", "nextitem",
                                            "cycle('a', 'b')", "changed(x)") + " }}"
        if recursive and self.chance(0.7):
            inner += "{% if loop.depth < 3 %}{{ loop(" + self.pick("xs[:2]", "[1]", "ys") + ") }}{% endif %}"
        self.in_function = saved_function
        self.loops -= 1
        self.locals = saved
        otherwise = self.tag("else") + self.body(depth) if self.chance(0.25) else ""
        return self.tag(f"for {target} in {source}{condition}{recursive}") + self.pick("", "\n") + inner + otherwise + self.tag("endfor") + self.pick("", "\n")

    def if_else(self, depth):
        out = self.tag(f"if {self.expr('bool')}") + self.pick("", "\n") + self.body(depth)
        while self.chance(0.25):
            out += self.tag(f"elif {self.expr('bool')}") + self.body(depth)
        if self.chance(0.5):
            out += self.tag("else") + self.body(depth)
        return out + self.tag("endif") + self.pick("", "\n")

    def set_value(self, _depth):
        kind = self.pick("int", "str", "list", "dict", "bool", "any")
        if self.chance(0.1):
            return self.tag(f"set a, b = {self.pick(self.expr('any') + ', ' + self.expr('any'), '(1, 2)', self.expr('list'))}")
        name = self.pick("x", "y", "z", "s", "xs", "q", "msg")
        text = self.tag(f"set {name} = {self.expr(kind)}")
        self.locals[name] = kind
        return text + self.pick("", "\n")

    def set_block(self, depth):
        name = self.pick("y", "z", "blk")
        self.captured += 1
        inner = self.body(depth)
        self.captured -= 1
        self.locals[name] = "str"
        return self.tag(f"set {name}{self.pick('', '', ' | upper', ' | trim | replace(' + self.quote('a') + ', s)')}") + inner + self.tag("endset")

    def macro(self, depth):
        name = f"m{len(self.macros)}"
        count = self.rng.randint(0, 3)
        params = []
        for n in range(count):
            params.append(f"p{n}" + (f"={self.expr('any')}" if params and "=" in params[-1] or self.chance(0.3) else ""))
        saved, saved_macros, self.macros = dict(self.locals), self.macros, []
        for n in range(count):
            self.locals[f"p{n}"] = "any"
        self.captured += 1
        self.in_function += 1
        inner = self.body(depth)
        if self.chance(0.3):
            inner += self.pick("{{ varargs }}", "{{ kwargs }}", "{{ caller() if caller }}", "{{ caller is defined }}")
        self.in_function -= 1
        self.captured -= 1
        self.locals, self.macros = saved, saved_macros + [(name, count)]
        return self.tag(f"macro {name}({', '.join(params)})") + inner + self.tag("endmacro") + self.pick("", "\n")

    def call_block(self, depth):
        if not self.macros:
            return self.macro(depth)
        name, count = self.rng.choice(self.macros)
        self.captured += 1
        self.in_function += 1
        inner = self.body(depth)
        self.in_function -= 1
        self.captured -= 1
        args = ", ".join(self.expr("any") for _ in range(self.rng.randint(0, count)))
        return self.tag(f"call{self.pick('', '', '(y)')} {name}({args})") + inner + self.tag("endcall")

    def filter_block(self, depth):
        self.captured += 1
        inner = self.body(depth)
        self.captured -= 1
        return self.tag(f"filter {self.pick('upper', 'trim', 'indent(2)', 'replace(' + self.quote('a') + ', ' + self.quote('b') + ')|lower', 'title', 'e', 'length|string')}") \
            + inner + self.tag("endfilter")

    def with_block(self, depth):
        saved = dict(self.locals)
        bindings = self.pick("", f"w = {self.expr()}", f"w = {self.expr()}, y = {self.expr()}")
        if bindings:
            self.locals["w"] = "any"
        inner = self.body(depth)
        self.locals = saved
        return self.tag(f"with {bindings}") + inner + self.tag("endwith")

    def namespace(self, depth):
        start = self.tag(f"set ns = namespace(v={self.expr('any')}, k={self.expr('int')})")
        change = self.tag(f"set ns.{self.pick('v', 'k', 'w')} = {self.pick('ns.v', 'ns.k + 1', self.expr('any'), 'ns.v ~ ' + self.quote('+'))}")
        loop = self.tag("for q in xs") + change + self.tag("endfor") if self.chance(0.6) else change
        return start + loop + "{{ ns." + self.pick("v", "k", "w", "zz") + " }}" + self.pick("", "{{ ns }}")

    def generation(self, depth):
        if self.captured:
            return self.data()
        self.in_function += 1
        self.captured += 1
        inner = self.body(depth)
        self.captured -= 1
        self.in_function -= 1
        return self.tag("generation") + inner + self.tag("endgeneration")

    def template(self):
        variables = self.context()
        source = "".join(self.statement() for _ in range(self.rng.randint(1, 3)))
        if self.chance(0.03):  # a syntax error now and then
            at = self.rng.randint(0, len(source))
            source = source[:at] + self.pick("%}", "{%", "}}", "(", "'", "|", "{{", "endif", ".", "#}") + source[at + self.rng.randint(0, 3):]
        return source, variables
