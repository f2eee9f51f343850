"""Makes the tables of the text estimate from what `count_cells` counted.

Usage: fit.py COUNTS TABLES

COUNTS has a NAME.txt for each vocabulary. TABLES gets a file for each family, with one printable character for each cell, and
`margins.txt`, with one line for each family and one number for each sort of cells: by how many percent the upper size is above
the expected one. The margins are the smallest, weighed by what is sent most, with which hardly any slice is larger than its upper
size; a linear program finds them.
"""
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, identity

# As in densities.rs: the families in the order of `Vocabulary`, with the vocabulary each is made from.
FAMILIES = {
    "o200k": "o200k",
    "cl100k": "cl100k",
    "claude": "claude",
    "claude since 4.7": "claude",
    "gemma2": "gemma2",
    "gemma3": "gemma3",
    "llama3": "llama3",
    "qwen": "qwen3",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "tekken": "tekken",
    "command": "command",
}
# The sorts in the order of cells.rs, each with the least margin it gets whatever was counted, in percent. The last two are counted by
# bytes, the first of these with a blank before it.
LEAST = {
    "Latin0": 9,
    "Latin1": 9,
    "Latin2": 11,
    "Latin3": 28,
    "Latin4": 35,
    "Latin5": 35,
    "Vietnamese": 28,
    "Turkish": 28,
    "Hungarian": 28,
    "Nordic": 28,
    "WordStart": 9,
    "WordJoined": 9,
    "NumberStart": 8,
    "Digit": 8,
    "Blank": 10,
    "Blanks": 10,
    "Mark": 14,
    "MarkStart": 14,
    "Marks": 18,
    "Accented": 35,
    "Cyrillic": 42,
    "CyrillicStrange": 42,
    "Greek": 40,
    "Hebrew": 40,
    "Arabic": 40,
    "Persian": 45,
    "Pointed": 40,
    "Caucasian": 45,
    "Indic": 40,
    "Eastern": 42,
    "Han": 20,
    "HanRare": 45,
    "Kana": 20,
    "Hangul": 30,
    "Line": 45,
    "Typographic": 30,
    "Symbol": 45,
    "RareStart": 0,
    "Rare": 0,
}
SORTS = len(LEAST)
RARE_START, RARE = SORTS - 2, SORTS - 1
# What English, code and tool output consist of.
USUAL = {list(LEAST).index(name) for name in ["Latin0", "Latin1", "Latin2", "WordStart", "WordJoined", "NumberStart", "Digit", "Blank", "Blanks", "Mark", "MarkStart", "Marks"]}
# No margin is larger, in percent: a single strange text shall not make all texts of its sort dear. Numbers by chance cost far
# more than those that are written often.
MOST_USUAL = 35
MOST = 120
MOST_OF = {"Latin2": 20, "WordStart": 12, "NumberStart": 80, "Digit": 80, "Blanks": 80}
# How much a text in each folder counts for the averages.
WEIGHTS = {"prose": 8.0, "usual": 0.4, "rare": 0.03, "noise": 0.03}
# How many times as much English counts, as most is written in it.
ENGLISH = 2
# What an upper size that is too small costs in the linear program, in slack of the average text: that of a slice, first for usual
# sorts and then for the rest, and that of a whole text.
TOO_SMALL = 0.01
TOO_SMALL_ELSEWHERE = 0.1
TOO_SMALL_TEXT = 0.5
# Characters of the averages that each cell starts with.
PRIOR = 30.0
# Letters are told apart by grades, as in cells.rs: cells of letters that differ in their grade only.
LETTER_SORTS = {"Latin0", "Latin1", "Latin2", "Latin3", "Latin4", "Latin5", "Vietnamese", "Turkish", "Hungarian", "Nordic"}
GRADES = 10
CASES = 3


def read(file):
    """What chance adds to a size (square roots, tokens), the sort of each cell, and the slices: text, tokens, cells (cell, bytes,
    characters, tokens)."""
    lines = file.open()
    spread, floor = map(int, next(lines).split())
    order = list(LEAST)
    names = next(lines).split()
    slices = []
    for line in lines:
        words = line.split(" ")
        cells = np.array([[int(n) for n in word.split(":")] for word in words[2:]])
        if int(words[1]) > 0:
            slices.append((words[0], int(words[1]), cells))
    return (spread / 100, floor / 1000), names, np.array([order.index(name) for name in names]), slices


def folder(name):
    return name.split("/")[0]


def averages(names, sorts, slices):
    """Tokens per character of each cell. One that was hardly seen is taken for what it is in other grades, or for its sort."""
    characters, tokens = np.zeros(len(sorts)), np.zeros(len(sorts))
    for name, _, cells in slices:
        weight = WEIGHTS[folder(name)] * (ENGLISH if name.startswith("prose/en_") else 1)
        characters[cells[:, 0]] += weight * cells[:, 2]
        tokens[cells[:, 0]] += weight * cells[:, 3]
    smooth = lambda groups, mean: (np.bincount(groups, tokens) + PRIOR * mean) / (np.bincount(groups, characters) + PRIOR)
    of_sort = smooth(sorts, 0.3)[sorts]
    letters = np.array([name in LETTER_SORTS for name in names])
    cell = np.arange(len(names))
    alike = np.where(letters, cell // (GRADES * CASES) * CASES + cell % CASES, cell)
    before = np.where(letters, smooth(alike, np.bincount(alike, of_sort) / np.maximum(np.bincount(alike), 1))[alike], of_sort)
    return (tokens + PRIOR * before) / (characters + PRIOR)


def levels(density):
    """The characters that stand for densities, and the densities they stand for (`cost` in densities.rs)."""
    level = np.clip(np.round(np.sqrt(density * 1849)), 0, 86).astype(int)
    return level, (level * level * 1000 // 1849) / 1000


def solve(x, missing, cost, bounds, too_small):
    """The margins with the least slack, if upper sizes that are too small cost so much."""
    rows = missing > 0
    count = int(rows.sum())
    wanted = csr_matrix(x[rows] / missing[rows, None])
    found = linprog(
        np.concatenate([cost, too_small[rows]]),
        A_ub=hstack([-wanted, -identity(count)]).tocsr(),
        b_ub=-np.ones(count),
        bounds=bounds + [(0, 1)] * count,
    )
    return found.x[:SORTS]


def margins(chance, sorts, slices, density):
    """The smallest margins, and how good they are."""
    spread, floor = chance
    x = np.zeros((len(slices), SORTS))
    by_bytes, truth = np.zeros(len(slices)), np.zeros(len(slices))
    for row, (_, tokens, cells) in enumerate(slices):
        of_cell = sorts[cells[:, 0]]
        x[row] = np.bincount(of_cell, density[cells[:, 0]] * cells[:, 2], minlength=SORTS)
        by_bytes[row] = cells[of_cell >= RARE_START, 1].sum() + cells[of_cell == RARE_START, 2].sum()
        truth[row] = tokens
    x[:, RARE_START:] = 0
    # Whole texts after their slices: what is added for chance hardly counts there.
    names = sorted({name for name, _, _ in slices})
    place = np.array([names.index(name) for name, _, _ in slices])
    sums = lambda values: np.array([np.bincount(place, column) for column in np.atleast_2d(values.T)]).T
    x, by_bytes, truth = np.vstack([x, sums(x)]), np.concatenate([by_bytes, sums(by_bytes)[:, 0]]), np.concatenate([truth, sums(truth)[:, 0]])
    folders = np.array([folder(name) for name, _, _ in slices] + [folder(name) for name in names])
    whole = np.arange(len(truth)) >= len(slices)

    base = x.sum(1) + by_bytes
    sizes = base + spread * np.sqrt(base) + floor
    missing = truth - sizes
    missing[folders == "noise"] = -1
    prose, usual = (folders == "prose") & ~whole, (folders == "usual") & ~whole
    share = x / truth[:, None]
    cost = share[prose].mean(0) * 7 + share[usual].mean(0) * 7 + share.mean(0) * 1.5 + 0.002
    # First what is usual, tightly; then the rest, so that hardly any slice is too large.
    most = [MOST_OF.get(name, MOST_USUAL if sort in USUAL else MOST) for sort, name in enumerate(LEAST)]
    bounds = [(least / 100, most / 100) for least, most in zip(LEAST.values(), most)]
    of_rows = lambda too_small: np.where(whole, TOO_SMALL_TEXT, too_small)
    usual_margins = solve(x, missing, cost, bounds, of_rows(TOO_SMALL))
    bounds = [(usual_margins[sort],) * 2 if sort in USUAL else bounds[sort] for sort in range(SORTS)]
    found = solve(x, missing, cost, bounds, of_rows(TOO_SMALL_ELSEWHERE))
    percent = np.ceil(found * 100 + 0.5).astype(int)
    percent[RARE_START:] = 0
    slack = (sizes + x @ (percent / 100)) / truth - 1
    for name, rows in {"slices": ~whole, "texts": whole}.items():
        real = slack[rows & (folders != "noise")]
        print(f"  {name} too small: {(real < 0).mean():.3%}, at worst by {max(0.0, -real.min()):.2%}")
    print(f"  slack of prose {np.median(slack[prose]):.1%}, of what is usual {np.median(slack[usual]):.1%}; of whole texts {np.median(slack[whole & (folders == 'prose')]):.1%}, {np.median(slack[whole & (folders == 'usual')]):.1%}")
    return percent


def main():
    counts, tables = map(Path, sys.argv[1:])
    lines, made = [], {}
    for family, vocabulary in FAMILIES.items():
        if vocabulary not in made:
            print(family, flush=True)
            chance, names, sorts, slices = read(counts / f"{vocabulary}.txt")
            level, density = levels(averages(names, sorts, slices))
            made[vocabulary] = margins(chance, sorts, slices, density)
            text = "".join(chr(ord("(") + number) for number in level)
            rows = [text[at : at + 120] for at in range(0, len(text), 120)]
            (tables / f"{family}.txt").write_text("\n".join(rows) + "\n")
        lines.append(" ".join(map(str, made[vocabulary])))
    (tables / "margins.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
