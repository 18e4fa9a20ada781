"""All that the preview keeps: its conversations, in memory."""

import conversations
import examples


class House:
    """All conversations, and what the preview was started with."""

    def __init__(self, pace_s: float, demo: bool):
        self.ids, self.pace_s, self.sessions, self.deleted = examples.Ids(), pace_s, {}, {}
        self.model = {**examples.MODEL, "is_demo": demo}
        self.fill()

    def fill(self) -> None:
        for title, group in [("Trip to Lisbon", "Today"), ("Fix my regex", "Today"), ("Birthday poem for Ana", "Yesterday"),
                             ("Ideas for a garden shed that is long in the title", "Earlier")]:
            session = self.new(title, group)
            asked = session.add(None, role="user", text=f"About: {title}", attachments=[])
            session.add(asked["id"], **self.answer(examples.SHORT))
        showcase = self.new("How a hash map works", "Pinned")
        showcase.pinned = True
        asked = showcase.add(None, role="user", text="Explain how a hash map works, with a small example.", attachments=[])
        first = showcase.add(asked["id"], **self.answer(examples.SHORT))
        answer = showcase.add(asked["id"], **self.answer(examples.ANSWER, [{"kind": "thinking", "text": examples.THOUGHT, "tokens": 71, "ms": 12300}]))
        note = {"name": "notes.txt", "text": "load factor 0.75\nresize doubles", "tokens": 9}
        asked = showcase.add(answer["id"], role="user", text="And what is (3 + 4) * 12.5? My notes are attached.", attachments=[note])
        call = {"id": self.ids.new(), "name": "calculator", "arguments": [{"name": "expression", "value": "(3 + 4) * 12.5"}],
                "state": "done", "result": "87.5", "ms": 212}
        last = showcase.add(asked["id"], **self.answer("It is **87.5**.", [{"kind": "tool", "call": call}]))
        last["state"] = "limit"
        self.showcase, self.first_branch = showcase.id, first["id"]
        broken = self.new("Stopped in the middle", "Today")
        asked = broken.add(None, role="user", text="Tell me about trams.", attachments=[])
        node = broken.add(asked["id"], **self.answer("The first trams were drawn by horses. In"))
        node["state"] = "interrupted"
        many = self.new("A thousand messages", "Earlier")
        parent = None
        for n in range(500):
            parent = many.add(parent, role="user", text=f"Question {n + 1}", attachments=[])["id"]
            parent = many.add(parent, **self.answer(f"Answer **{n + 1}**.\n\n- one\n- two `code`"))["id"]

    def answer(self, text: str, before: list | None = None) -> dict:
        return {"role": "assistant", "turn_id": self.ids.new(), "state": "done", "tokens": len(text) // 4, "ms": len(text) * 15.4, "tokens_per_second": 16.2, "limit": 512,
                "parts": [*(before or []), {"kind": "text", "text": text}]}

    def new(self, title: str, group: str = "Today") -> conversations.Session:
        session = conversations.Session(self.ids, title, group)
        self.sessions[session.id] = session
        return session

    def groups(self, current: str = "", archived: bool = False) -> list[dict]:
        groups: dict[str, list] = {"Pinned": [], "Today": [], "Yesterday": [], "Earlier": []}
        for session in reversed(self.sessions.values()):
            if session.archived == archived:
                groups["Pinned" if session.pinned else session.group if session.group != "Pinned" else "Today"].append(
                    {"id": session.id, "title": session.title, "pinned": session.pinned, "archived": session.archived,
                     "is_current": session.id == current, "is_running": session.turn is not None})
        return [{"label": label, "sessions": items} for label, items in groups.items() if items]

    def find_message(self, message_id: str) -> tuple:
        for session in self.sessions.values():
            if message_id in session.nodes:
                return session, session.nodes[message_id]
        return None, None

    def find_call(self, call_id: str) -> tuple:
        for session in self.sessions.values():
            for node in session.nodes.values():
                for index, part in enumerate(node.get("parts", [])):
                    if part["kind"] == "tool" and part["call"]["id"] == call_id:
                        return session, index, part["call"]
        return None, 0, None
