"""Plain English that no model has seen: small reports drawn from a seed."""
import random

PEOPLE = ("Anna", "Boris", "Clara", "David", "Elena", "Farid", "Greta", "Hugo", "Irene", "Jonas")
TRADES = ("baker", "teacher", "carpenter", "doctor", "gardener", "painter", "sailor", "tailor", "farmer", "pilot")
TOWNS = ("Lyon", "Bergen", "Porto", "Ghent", "Turin", "Gdansk", "Cork", "Basel", "Graz", "Malaga")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
THINGS = ("apples", "wooden chairs", "old books", "blue lamps", "silver spoons", "paper maps", "warm coats", "bicycles",
          "clay pots", "violins")
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "eleven", "twelve")
WEATHER = ("it was raining", "the sun was shining", "a cold wind blew", "snow had fallen", "the fog was thick")
SENTENCES = (
    "On {day} the {trade} {person} walked to the market in {town} and bought {number} {thing}.",
    "Because {weather}, the {trade} stayed at home and counted the {thing}.",
    "A letter from {town} said that {person} had sold {number} {thing} to a {trade}.",
    "In the evening {person} told {other} about the journey to {town}, although {weather}.",
    "The {trade} promised to bring {number} {thing} before {day}, but {other} did not believe it.",
    "When {person} came back from {town}, the {thing} were still in the garden.",
)


def report(seed, least_words):
    """Sentences until there are at least so many words."""
    draw = random.Random(seed)
    sentences = []
    while sum(len(sentence.split()) for sentence in sentences) < least_words:
        person, other = draw.sample(PEOPLE, 2)
        sentences.append(draw.choice(SENTENCES).format(
            person=person, other=other, trade=draw.choice(TRADES), town=draw.choice(TOWNS), day=draw.choice(DAYS),
            thing=draw.choice(THINGS), number=draw.choice(NUMBERS), weather=draw.choice(WEATHER)))
    return " ".join(sentences)


QUESTIONS = tuple(f"Write a short story about a {trade} in {town} who finds {number} {thing}."
                  for trade, town, number, thing in zip(TRADES, TOWNS, NUMBERS, THINGS))
