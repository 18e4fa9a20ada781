"""What a client knows of its conversations, and how it differs from what the server has."""
import copy
from dataclasses import dataclass, field

from kill_client import Told, joined

AT = "2026-11-28T13:00:00.000Z"
ENDED = ("done", "limit", "thinking_limit", "context")


@dataclass(eq=False)
class Node:
    """A message. What an answer may have become since it was last read is in `told` and `stops`."""
    role: str
    parent: object                 # a node, or None
    text: str = ""                 # of a question
    id: object = None              # a number, once the server has said it
    told: object = None            # of an answer that was not read since
    forced: object = None          # what the answer's grammar asks for: all of the text, or a number of words
    stops: bool = False            # it was asked to, or its conversation was deleted
    kept: object = None            # state and parts as they were read

    def is_running(self):
        return self.told is not None and self.told.reason is None


@dataclass(eq=False)
class Session:
    id: object
    title: str
    has_own_title: bool = False
    nodes: list = field(default_factory=list)      # in the order in which they were made
    leaf: object = None
    last_deletion: object = None                   # an undo id, and what it brings back
    is_for_show: bool = False                      # too long to be talked to

    def changed(self):
        """A copy that can be changed; its nodes are the same."""
        other = copy.copy(self)
        other.nodes = list(self.nodes)
        other.last_deletion = None
        return other

    def path(self):
        out = []
        node = self.leaf
        while node is not None:
            out.append(node)
            node = node.parent
        return out[::-1]

    def is_running(self):
        return any(node.is_running() for node in self.nodes)

    # ---- what requests do ----
    def with_answer(self, parent, forced):
        out = self.changed()
        out.leaf = Node("assistant", parent, forced=forced, told=Told())
        out.nodes.append(out.leaf)
        return out

    def with_question(self, parent, text, forced):
        out = self.changed()
        out.nodes.append(Node("user", parent, text))
        return out.with_answer(out.nodes[-1], forced)

    def with_continuation(self, old):
        out = self.changed()
        new = copy.copy(old)
        new.told, new.stops, new.forced = Told(old.kept[1]), False, None
        out.nodes[out.nodes.index(old)] = out.leaf = new
        return out

    def without(self, node):
        """Without the message and all below it."""
        out = self.changed()
        gone = {node}
        for other in self.nodes:
            if other.parent in gone:
                gone.add(other)
        out.nodes = [other for other in self.nodes if other not in gone]
        if self.leaf in gone:
            out.leaf = out.newest_below(node.parent)
        out.follow_first_question()
        return out

    def newest_below(self, node):
        while children := [other for other in self.nodes if other.parent is node]:
            node = children[-1]
        return node

    def follow_first_question(self):
        if not self.has_own_title:
            self.title = next((node.text for node in self.nodes if node.role == "user"), "New conversation")

    def with_title(self, title):
        out = self.changed()
        out.title, out.has_own_title = title, True
        return out


@dataclass
class Figures:
    finished: int = 0
    interrupted: int = 0
    interrupted_with_text: int = 0
    unsaved_s: float = 0.0         # longest time between something told and the kill, where it was not saved


def differences(session, found, killed_at, figures):
    """Between a session and its export, as texts; what agrees is taken over into the nodes."""
    out = []
    places = {node: place for place, node in enumerate(session.nodes)}
    if found["title"] != session.title:
        out.append(f"title: expected {session.title!r}, found {found['title']!r}")
    if len(found["messages"]) != len(session.nodes):
        return out + [f"expected {len(session.nodes)} messages, found {len(found['messages'])}"]
    leaf = None if session.leaf is None else places[session.leaf]
    if found.get("leaf") != leaf:
        out.append(f"expected message {leaf} as the last one, found {found.get('leaf')}")
    for place, (node, message) in enumerate(zip(session.nodes, found["messages"])):
        parent = None if node.parent is None else places[node.parent]
        expected, place_found = (node.role, parent), (message["role"], message.get("parent"))
        if place_found != expected:
            out.append(f"message {place}: expected role and parent {expected}, found {place_found}")
        elif node.role == "user":
            if message["text"] != node.text:
                out.append(f"message {place}: expected {node.text!r}, found {message['text']!r}")
        else:
            out += [f"message {place}: {text}" for text in answer_differences(node, message, killed_at, figures)]
    return out


def answer_differences(node, message, killed_at, figures):
    state = message["state"]
    parts = [{"kind": part["kind"], "text": part["text"]} for part in message["parts"]]
    if node.told is None:
        same = (state, parts) == node.kept
        return [] if same else [f"expected the answer {node.kept!r}, found {(state, parts)!r}"]
    saved, told = joined(parts), joined(node.told.parts)
    out = []
    if node.told.reason is not None:
        figures.finished += 1
        if node.told.is_whole and (state, saved) != (node.told.reason, told):
            out.append(f"told as {node.told.reason}: {told!r}, found {state}: {saved!r}")
    else:
        figures.interrupted += state == "interrupted"
        figures.interrupted_with_text += state == "interrupted" and saved != ""
        if not (saved.startswith(told) or told.startswith(saved)):
            out.append(f"told {told!r}, found {saved!r}")
        moment = node.told.first_time_beyond(len(saved))
        figures.unsaved_s = max(figures.unsaved_s, 0 if moment is None else killed_at - moment)
    allowed = (*ENDED, *(["stopped"] if node.stops else []), *(["interrupted"] if node.told.reason is None else []))
    if state not in allowed and state != node.told.reason:
        out.append(f"expected one of {', '.join(allowed)}, found {state}")
    text = "".join(part["text"] for part in parts if part["kind"] == "text")
    if node.forced is not None and not is_as_forced(text, node.forced, state == "done"):
        out.append(f"expected {node.forced!r} or a beginning of it ({state}), found {text!r}")
    return out


def is_as_forced(text, forced, is_whole):
    if isinstance(forced, str):
        return text == forced if is_whole else forced.startswith(text)
    return len(text.split()) == forced if is_whole else len(text.split()) <= forced


def take_over(session, found, ids):
    """What was read is what is to be there from now on; ids are those of the branch's newest messages."""
    for node, message in zip(session.nodes, found["messages"]):
        if node.role == "assistant":
            node.kept = (message["state"], [{"kind": part["kind"], "text": part["text"]} for part in message["parts"]])
            node.told, node.stops = None, False
    out = []
    for node, number in zip(session.path()[::-1], ids[::-1]):
        if node.id not in (None, number):
            out.append(f"expected the id {node.id} of a message, found {number}")
        node.id = number
    return out


def json_of(session):
    """As a file to import has it."""
    places = {node: place for place, node in enumerate(session.nodes)}
    messages = []
    for node in session.nodes:
        message = {"role": node.role, "created": AT, **({} if node.parent is None else {"parent": places[node.parent]})}
        messages.append({**message, "text": node.text} if node.role == "user" else
                        {**message, "state": node.kept[0], "parts": node.kept[1]})
    return {"title": session.title, "title_origin": "person", "created": AT, "updated": AT, "date": AT[:10],
            "settings": {"think": False}, "leaf": places[session.leaf], "messages": messages}
