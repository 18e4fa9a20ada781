"""What the preview shows: a model, conversations, answers. Shapes: docs/page.md, "Contexts"."""

import itertools
import math
import time

APP = {"name": "smolbot", "version": "preview"}
MODEL = {"id": "SmolLM3-3B", "name": "SmolLM3-3B", "quantization": "Q4_K_M", "is_demo": False, "thinks": True,
         "context_length": 16384, "file": "SmolLM3-3B-Q4_K_M.gguf", "size": "1.8 GiB"}
STARTERS = [
    {"title": "Explain", "text": "Explain how a hash map works, with a small example."},
    {"title": "Write", "text": "Write a friendly mail that moves a meeting to Thursday."},
    {"title": "Plan", "text": "Plan three days in Lisbon for someone who likes trams and tiles."},
    {"title": "Code", "text": "Write a Python function that checks a sudoku grid."},
]
SETTINGS = {"system": None, "temperature": None, "top_p": None, "top_k": None, "min_p": None, "repetition_penalty": None,
            "seed": None, "max_tokens": None, "thinking_budget": None, "tools": False}

THOUGHT = """The user wants to know how a hash map works.
I should start from the idea, then show an example, and mention collisions.
A small table would help: operation, average, worst case.
Python is a good language for a short example. Let me keep it brief."""

ANSWER = """A **hash map** stores pairs of keys and values. It turns each key into a number, the *hash*, and uses that number to pick a place in an array, so a lookup takes the same time however many pairs there are.

## A small example

```python
class HashMap:
    def __init__(self, size=8):
        self.buckets = [[] for _ in range(size)]

    def put(self, key, value):
        bucket = self.buckets[hash(key) % len(self.buckets)]
        for pair in bucket:
            if pair[0] == key:      # the key is known: replace
                pair[1] = value
                return
        bucket.append([key, value])
```

Two keys may land in the same place. Then:

1. **chaining** keeps a short list in each place, as above;
2. **open addressing** looks for the next free place.

| operation | average | worst case |
|---|---:|---:|
| `put` | O(1) | O(n) |
| `get` | O(1) | O(n) |

With $n$ pairs in $m$ places the *load factor* is $\\alpha = n / m$, and a search looks at about

$$1 + \\frac{\\alpha}{2} + \\mathcal{O}\\!\\left(\\frac{1}{m}\\right)$$

pairs. That is why a map grows when $\\alpha$ comes near 0.75.

> Keys must not change while they are in the map.
"""

SHORT = "That depends on the hash function. A good one spreads the keys evenly; then even a full map rarely needs more than two steps."


class Ids:
    """Ids that are the same in each run."""

    def __init__(self):
        self.counter = itertools.count(1)

    def new(self) -> str:
        return f"{next(self.counter):032x}"


def sample_wave(n: int, base: float, swing: float, phase: float) -> list[float]:
    return [max(0.0, base + swing * math.sin(i / 5 + phase) + swing / 3 * math.sin(i / 1.7)) for i in range(n)]


def status(n_sessions: int, n_running: int) -> dict:
    phase = time.time() / 10
    generation, prompt, memory = sample_wave(60, 15, 2, phase), sample_wave(60, 40, 30, phase), sample_wave(60, 2.6, 0.05, phase)
    return {"threads": 2, "isa": "avx2", "generation_speed": generation[-1], "generation_samples": generation, "generation_peak": 20,
            "prompt_speed": prompt[-1], "prompt_samples": prompt, "prompt_peak": 80, "memory": f"{memory[-1]:.2f} GiB",
            "memory_samples": memory, "memory_peak": 4, "state": "writing" if n_running else "idle", "queued": 0, "running": n_running,
            "kv_used": 173015040, "kv_max": 1225785344, "kv_used_text": "165.0 MiB", "kv_max_text": "1.14 GiB", "sessions": n_sessions, "answers": 128, "uptime": "3 h 12 min"}
