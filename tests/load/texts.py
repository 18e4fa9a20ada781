"""Plain English: texts to repeat, which every Debian carries, and questions that need no copying."""
import pathlib

LICENSES = pathlib.Path("/usr/share/common-licenses")
LEAST_WORDS, MOST_WORDS = 150, 300


def passages(name):
    """Paragraphs that follow each other, joined to texts of 150 to 300 words."""
    paragraphs = [" ".join(part.split()) for part in (LICENSES / name).read_text(encoding="utf-8").split("\n\n")]
    found, text = [], ""
    for paragraph in paragraphs:
        text = f"{text} {paragraph}".strip()
        size = len(text.split())
        if size >= LEAST_WORDS:
            found += [text] if size <= MOST_WORDS else []
            text = ""
    return found


def texts_to_repeat():
    """Ten, taken evenly from two licenses; none where the system does not have them."""
    try:
        found = passages("GPL-2") + passages("GPL-3")
    except OSError:
        return []
    return [found[i * len(found) // 10] for i in range(10)]


TRADES = ("baker", "teacher", "carpenter", "doctor", "gardener", "painter", "sailor", "tailor", "farmer", "pilot")
TOWNS = ("Lyon", "Bergen", "Porto", "Ghent", "Turin", "Gdansk", "Cork", "Basel", "Graz", "Malaga")
QUESTIONS = tuple(f"Write a short story about a {trade} in {town}." for trade, town in zip(TRADES, TOWNS))
