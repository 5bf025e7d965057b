"""Per cent of exact answers by source length: a table of numbers and a drawing of several."""

import html

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 56, 36, 16, 48
COLOURS = ["#1f6fb4", "#c8541f", "#3c8c4a", "#7b52a8"]  # told apart by most eyes, on white and dark


def exact_by_length(references, hypotheses, shortest=5, step=5, longest=60):
    """[{"from", "to", "items", "exact"}] for lengths in characters; the last bucket ends at
    `longest` whatever is left over."""
    if len(references) != len(hypotheses):
        raise ValueError(f"{len(references)} references, {len(hypotheses)} hypotheses")
    starts = list(range(shortest, longest, step))
    buckets = [{"from": a, "to": b - 1, "items": 0, "exact": 0.0}
               for a, b in zip(starts, starts[1:] + [longest + 1])]
    for reference, hypothesis in zip(references, hypotheses):
        for bucket in buckets:
            if bucket["from"] <= len(reference) <= bucket["to"]:
                bucket["items"] += 1
                bucket["exact"] += reference == hypothesis
    for bucket in buckets:
        bucket["exact"] = 100 * bucket["exact"] / bucket["items"] if bucket["items"] else None
    return buckets


def svg(title, curves):
    """A line for each of `curves`, name to buckets: length across, per cent exact up."""
    first = min(b["from"] for buckets in curves.values() for b in buckets)
    last = max(b["to"] for buckets in curves.values() for b in buckets)

    def x(length):
        return LEFT + (WIDTH - LEFT - RIGHT) * (length - first) / (last - first)

    def y(exact):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - exact / 100)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="13" role="img">',
             f"<title>{html.escape(title)}</title>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
             f'<text x="{LEFT}" y="22" font-weight="bold">{html.escape(title)}</text>']
    for exact in range(0, 101, 25):
        parts.append(f'<path d="M{LEFT} {y(exact):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 8}" y="{y(exact) + 4:.1f}" text-anchor="end">'
                     f"{exact}</text>")
    for length in range(-(-first // 10) * 10, last + 1, 10):
        parts.append(f'<text x="{x(length):.1f}" y="{HEIGHT - BOTTOM + 20}" '
                     f'text-anchor="middle">{length}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
                 "letters in the source; up: lines exactly right, per cent</text>")
    for i, (name, buckets) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        points = [(x((b["from"] + b["to"]) / 2), y(b["exact"]))
                  for b in buckets if b["exact"] is not None]
        line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>'
                  for px, py in points]
    legend = [f'<tspan dx="{16 if i else 0}" fill="{COLOURS[i % len(COLOURS)]}">'
              f"{html.escape(name)}</tspan>" for i, name in enumerate(curves)]
    parts.append(f'<text x="{WIDTH - RIGHT - 24}" y="22" text-anchor="end">{"".join(legend)}</text>')
    return "\n".join(parts) + "\n</svg>\n"
