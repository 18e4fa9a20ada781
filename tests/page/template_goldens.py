#!/usr/bin/env python3
"""Writes what Jinja2 makes of every template of the page, with the contexts that the preview uses, as golden cases for our own engine:

  tests/page/template_goldens.py build/page/goldens.jsonl && smolbot_conformance jinja --cases build/page/goldens.jsonl

Without autoescape, which that kind of golden case does not have.
"""

import json
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

from jinja2.sandbox import ImmutableSandboxedEnvironment

import house
import preview
import templates


def recorder(records: list) -> callable:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    render = templates.render

    def record(name: str, context: dict) -> str:
        source, values = templates.source(name), json.loads(json.dumps(context))
        records.append({"id": f"{len(records)} {name}", "template": source, "vars": values,
                        "expected": environment.from_string(source).render(values)})
        return render(name, context)

    return record


def visit(base: str, path: str, fields: dict | None = None, headers: dict | None = None) -> None:
    data = urllib.parse.urlencode(fields).encode() if fields else None
    try:
        urllib.request.urlopen(urllib.request.Request(base + path, data, headers or {})).read()
    except urllib.error.HTTPError:
        pass  # refusals are pages, too


def visit_all(base: str, place: house.House) -> None:
    ids = {session.title: session.id for session in place.sessions.values()}
    for path in ["/", "/status", "/status/live", "/login", "/login?failed=1", "/chat/none", "/api/search?q=keys", "/api/search?q=zebra",
                 "/api/sessions", "/api/settings", "/api/settings?system=hi", *(f"/chat/{id}" for id in ids.values())]:
        visit(base, path)
    chosen = ids["How a hash map works"]
    messages = place.sessions[chosen].shown()
    for message in messages:
        visit(base, f"/api/message?message_id={message['id']}")
        visit(base, f"/api/{'edit' if message['role'] == 'user' else 'message-footer'}?message_id={message['id']}")
    visit(base, f"/api/tool?call_id={messages[-1]['parts'][0]['call']['id']}")
    visit(base, f"/api/rename?session_id={chosen}")
    for path, fields in [("chat", {"session_id": "", "message": "A <b>\"tool\"</b> & more", "think": "on"}), ("chat", {"session_id": "", "message": ""}),
                         ("toggle-thinking", {"session_id": chosen, "think": "on"}), ("unqueue", {"session_id": chosen, "edit": "on"}), ("set-temperature", {"temperature": "9"}),
                         ("settings", {"session_id": chosen, "temperature": "9"}), ("attachment", {"name": "a<b", "text": "\nx"}),
                         ("delete", {"message_id": messages[-1]["id"]}), ("delete", {"session_id": ids["Fix my regex"]}),
                         ("archive", {"session_id": ids["Birthday poem for Ana"], "archived": "true"}), ("reset-context", {"session_id": chosen}),
                         ("branch", {"message_id": messages[0]["id"]})]:
        visit(base, f"/api/{path}", fields)
    visit(base, "/api/sessions?archived=true")
    visit(base, "/api/delete", {"session_id": chosen}, {"HX-Current-URL": f"{base}/chat/{chosen}"})


def main() -> None:
    records: list[dict] = []
    templates.render = recorder(records)
    preview.Handler.house = house.House(pace_s=0.001, demo=True)
    server = preview.Server(("127.0.0.1", 0), preview.Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    visit_all(f"http://127.0.0.1:{server.server_port}", preview.Handler.house)
    server.shutdown()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    used = {record["id"].split(" ", 1)[1] for record in records}
    every = {f"{path.parent.name}/{path.name.removesuffix('.html.jinja')}" for kind in ("pages", "fragments") for path in (templates.TEMPLATES / kind).iterdir()}
    print(f"{len(records)} cases of {len(used)} templates; never rendered: {', '.join(sorted(every - used)) or 'none'}")


if __name__ == "__main__":
    main()
