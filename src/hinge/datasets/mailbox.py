"""A synthetic mailbox: labelled messages in time order, made of invented words.

Each folder has several hundred words of its own and a handful of senders; a message mixes its folder's
words, words of a related folder and common words, each drawn by Zipf's law. As time goes by folders
change their favourite words, and new folders appear. Everything follows from the seed, through arithmetic,
comparisons and `random.Random.random` alone, so that the same bits come out on every machine.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from random import Random

_STOPS = ("b", "br", "c", "ch", "d", "dr", "g", "gr", "k", "p", "pl", "t", "tr")
_ONSETS = (*_STOPS, "f", "fl", "h", "j", "l", "m", "n", "r", "s", "sh", "st", "v", "w", "z")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "io", "ou")
_CODAS = ("", "", "", "l", "m", "n", "nd", "r", "rt", "s", "sk", "x")
_KINDS = ("project", "client", "team", "course", "journal", "travel", "club", "family")

_FOLDER_WORDS = 400
_COMMON_WORDS = 600
_OPEN_AT_START = 0.6
_STAY = 0.25
_DRIFT = 0.5


def synthetic_mailbox(
    n_messages: int = 4000, n_folders: int = 24, seed: int = 0
) -> Iterator[tuple[dict[str, float], str]]:
    """Yield messages of an invented mailbox, oldest first.

    Parameters
    ----------
    n_messages : int
        How many messages.
    n_folders : int
        How many folders, at least 2. Three fifths of them exist from the start, the others open one by
        one between a fifth and four fifths of the stream; a few are far busier than the rest.
    seed : int
        Seeds everything.

    Yields
    ------
    features : dict of str to float
        Each word of the message, and ``from=name`` for its sender, with the value 1.0.
    folder : str
        Where the message was filed.

    Examples
    --------
    >>> from itertools import islice
    >>> for features, folder in islice(synthetic_mailbox(seed=3), 2):
    ...     print(folder, len(features), next(iter(features)))
    travel-fenu 27 from=weagea.broshoul
    client-drodriort 17 from=weagea.broshoul
    """
    if n_folders < 2:
        raise ValueError(f"n_folders must be at least 2, got {n_folders!r}")
    if n_messages < 0:
        raise ValueError(f"n_messages must not be negative, got {n_messages!r}")
    return _messages(n_messages, n_folders, Random(seed))


class _Zipf:
    """Draws ranks 0..size-1 with weights 1/(rank + offset)."""

    def __init__(self, size: int, offset: int) -> None:
        self._sums = list(accumulate(1.0 / (rank + offset) for rank in range(size)))

    def draw(self, random: Random, size: int | None = None) -> int:
        sums = self._sums
        last = (len(sums) if size is None else size) - 1
        return min(bisect(sums, random.random() * sums[last]), last)


class _Words:
    """Invents words that have not been used before."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._used: set[str] = set()

    def invent(self, syllables: int) -> str:
        word = "".join(self._syllable() for _ in range(syllables)) + _pick(_CODAS, self._random)
        while word in self._used:  # there are only 2430 words of one syllable: the next must be longer
            word += self._syllable()
        self._used.add(word)
        return word

    def several(self, count: int) -> list[str]:
        return [self.invent(1 + _below(3, self._random)) for _ in range(count)]

    def _syllable(self) -> str:
        return _pick(_ONSETS, self._random) + _pick(_VOWELS, self._random)


class _Folder:
    """A folder's name, its words (the first are its favourites) and its senders."""

    def __init__(self, words: _Words, random: Random) -> None:
        self.name = f"{_pick(_KINDS, random)}-{words.invent(2)}"
        self.words = words.several(_FOLDER_WORDS)
        self.senders = [f"{words.invent(2)}.{words.invent(2)}" for _ in range(3 + _below(5, random))]

    def drift(self, random: Random) -> None:
        """Let two words change places, one of them among the favourites half of the time."""
        favourites = 40 if random.random() < 0.5 else len(self.words)
        first, second = _below(favourites, random), _below(len(self.words), random)
        self.words[first], self.words[second] = self.words[second], self.words[first]


def _messages(n_messages: int, n_folders: int, random: Random) -> Iterator[tuple[dict[str, float], str]]:
    words = _Words(random)
    common = words.several(_COMMON_WORDS)
    folders = [_Folder(words, random) for _ in range(n_folders)]
    at_start = max(2, int(_OPEN_AT_START * n_folders))
    busy = _Zipf(n_folders, 2)
    by_rank = {size: _Zipf(size, 4) for size in (_COMMON_WORDS, _FOLDER_WORDS)}
    current = 0
    for number in range(n_messages):
        opened = at_start + _newcomers(number, n_messages, n_folders - at_start)
        if random.random() >= _STAY:
            current = _shuffled_rank(busy.draw(random, opened), opened)
        folder, related = folders[current], folders[(current + 1) % opened]
        if random.random() < _DRIFT:
            folder.drift(random)
        yield _message(folder, related, common, by_rank, random), folder.name


def _newcomers(number: int, n_messages: int, late: int) -> int:
    """Return how many of the late folders are open, none in the first fifth and all in the last."""
    return min(late, max(0, (5 * number - n_messages) * (late + 1) // (3 * n_messages)))


def _shuffled_rank(rank: int, opened: int) -> int:
    """Spread the busiest ranks over old and new folders: even ranks from the front, odd from the back."""
    return rank // 2 if rank % 2 == 0 else opened - 1 - rank // 2


def _message(
    folder: _Folder, related: _Folder, common: list[str], by_rank: dict[int, _Zipf], random: Random
) -> dict[str, float]:
    sender = _pick(folder.senders if random.random() < 0.8 else related.senders, random)
    features = {f"from={sender}": 1.0}
    length = 6 + _below(10, random) + _below(30, random)
    for _ in range(length):
        kind = random.random()
        pool = common if kind < 0.62 else folder.words if kind < 0.82 else related.words
        features[pool[by_rank[len(pool)].draw(random)]] = 1.0
    return features


def _below(bound: int, random: Random) -> int:
    return int(random.random() * bound)


def _pick(items: tuple[str, ...] | list[str], random: Random) -> str:
    return items[_below(len(items), random)]
