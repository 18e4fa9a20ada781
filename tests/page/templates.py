"""Renders web/templates with Jinja2 as the server's own engine does: every part, then the template itself, as one source."""

import functools
import pathlib

from jinja2 import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

TEMPLATES = pathlib.Path(__file__).resolve().parents[2] / "web" / "templates"


@functools.cache
def compiled(text: str) -> Template:
    return ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, autoescape=True).from_string(text)


def source(name: str) -> str:
    """The source of a template such as "pages/chat": the parts in the order of their names, then the template."""
    parts = sorted((TEMPLATES / "parts").glob("*.html.jinja"))
    return "".join(path.read_text() for path in [*parts, TEMPLATES / f"{name}.html.jinja"])


def render(name: str, context: dict) -> str:
    return compiled(source(name)).render(context).lstrip()
