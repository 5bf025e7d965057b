"""Choices that are the same on every machine and in every version of Python."""

MASK = (1 << 64) - 1


def hash64(text):
    """FNV-1a over the UTF-8 bytes, then the splitmix64 finaliser."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return mix(value)


def mix(value):
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


class Dice:
    """Throw number i for a label: the n-th choice depends on (label, i, n) alone."""

    def __init__(self, label, throw):
        self._state = mix(hash64(label) ^ mix(throw))
        self._count = 0

    def below(self, limit):
        self._count += 1
        return mix(self._state ^ mix(self._count)) % limit

    def pick(self, items):
        return items[self.below(len(items))]

    def chance(self, percent):
        return self.below(100) < percent

    def weighted(self, *pairs):
        """weighted(('a', 3), ('b', 1)): 'a' three times out of four."""
        point = self.below(sum(weight for _, weight in pairs))
        for item, weight in pairs:
            if point < weight:
                return item
            point -= weight
        raise AssertionError
