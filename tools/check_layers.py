"""Checks the include law of docs/architecture.md: which rooms and libraries each room of src/ may include.

Prints one line per violation; exit status 1 if there is any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Besides std and itself. An entry with a slash names a single header.
ROOMS = {
    "base": [],
    "gguf": ["base"],
    "grammar": ["base"],
    "jinja": ["base"],
    "kernels": ["base", "gguf"],
    "text": ["base", "gguf"],
    "model": ["base", "gguf", "kernels"],
    "engine": ["base", "model"],
    "chat": ["base", "text", "jinja", "grammar", "engine"],
    "tools": ["base", "chat/message.h"],
    "store": ["base", "chat/message.h"],
    "hub": ["base"],
    "server": ["base", "chat", "jinja"],
    "page": ["base", "chat", "jinja", "server", "store", "tools"],
    "app": ["*"],
}

# Headers in angle brackets -> where they may be included (prefixes of paths below src/). The first match decides.
LIBRARIES = [
    (r"nlohmann/", [""]),
    (r"(CLI|readline|fmt)/", ["app/"]),
    (r"boost/", ["server/"]),
    (r"(SQLiteCpp/|sqlite3\.h)", ["store/"]),
    (r"zlib\.h", ["store/", "page/"]),
    (r"curl/", ["hub/", "tools/mcp"]),
    (r"(cuda|cublas|nv)", ["model/cuda/"]),
    (r"(x86|[a-z]*mm)intrin\.h|arm_(neon|fp16)\.h", ["kernels/"]),
    (r"cpuid\.h|sys/auxv\.h|asm/hwcap\.h", ["base/", "kernels/"]),
    (r"(sys/[a-z]+|fcntl|unistd|poll|pthread|sched|signal|termios)\.h",
     ["base/", "gguf/", "model/cpu/", "store/", "app/"]),  # files, memory, terminal
    (r"[a-z_]+$", [""]),  # the standard library
]


def room_may_include(room: str, header: str) -> bool:
    allowed = ROOMS[room]
    target = header.split("/")[0]
    return target == room or "*" in allowed or target in allowed or header in allowed


def library_complaint(path: str, header: str) -> str | None:
    for pattern, places in LIBRARIES:
        if re.match(pattern, header):
            if any(path.startswith(place) for place in places):
                return None
            return f"<{header}> belongs in {' and '.join(places)} only"
    return f"<{header}> is no library that tools/check_layers.py knows"


def complaint(path: str, quote: str, header: str) -> str | None:
    """What the law has against the file `path` (below src/) including `header`."""
    if quote == "<":
        return library_complaint(path, header)
    room = path.split("/")[0]
    if not (ROOT / "src" / header).is_file():
        return f'"{header}" is no file below src/'
    if not room_may_include(room, header):
        return f'"{header}": {room} may include {", ".join(ROOMS[room]) or "nothing"}'
    return None


def violations(file: pathlib.Path) -> list[str]:
    path = file.relative_to(ROOT / "src").as_posix()
    if path.split("/")[0] not in ROOMS:
        return [f"src/{path}: its folder is none of the rooms"]
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        match = INCLUDE.match(line)
        text = complaint(path, *match.groups()) if match else None
        if text:
            found.append(f"src/{path}:{number}: {text}")
    return found


def main() -> int:
    files = sorted(f for f in (ROOT / "src").rglob("*") if f.suffix in (".h", ".cpp", ".cu"))
    found = [text for file in files for text in violations(file)]
    print("\n".join(found) if found else f"{len(files)} files keep the include law")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
