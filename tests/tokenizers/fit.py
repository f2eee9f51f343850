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

# As in densities.rs: the families in the order of `Vocabulary`, with the vocabularies they are made from.
FAMILIES = {
    "o200k": ["o200k"],
    "cl100k": ["cl100k"],
    "claude": ["claude"],
    "claude since 4.7": ["claude"],
    "gemma": ["gemma2", "gemma3"],
    "llama3": ["llama3"],
    "qwen": ["qwen3"],
    "deepseek": ["deepseek"],
    "mistral": ["mistral"],
    "tekken": ["tekken"],
    "command": ["command"],
}
# As in text.rs.
SPREAD = 1.5
FLOOR = 3.5
# As in cells.rs: the sorts, each with the least margin it gets whatever was counted, in hundredths. The last one is counted by bytes.
LEAST = [9, 9, 11, 28, 35, 35, 8, 10, 18, 35, 42, 45, 40, 42, 20, 45, 20, 30, 45, 0]
SORTS = len(LEAST)
RARE = SORTS - 1
# Latin letters of texts that vocabularies know well, digits, blanks and punctuation: what English, code and tool output consist of.
USUAL = {0, 1, 2, 3, 6, 7, 8}
# How much a text in each folder counts for the averages.
WEIGHTS = {"prose": 8.0, "usual": 0.4, "rare": 0.03, "noise": 0.03}
# What an upper size that is too small costs in the linear program, in slack of the average text: for usual sorts, and for the rest.
TOO_SMALL = 0.02
TOO_SMALL_ELSEWHERE = 0.3
# Characters of the averages that each cell starts with.
PRIOR = 30.0


def read(file):
    """The sort of each cell, and the slices: folder, tokens, cells (cell, bytes, characters, tokens)."""
    lines = file.open()
    sorts = np.array([int(word) for word in next(lines).split(" ")])
    slices = []
    for line in lines:
        words = line.split(" ")
        cells = np.array([[int(n) for n in word.split(":")] for word in words[2:]])
        if int(words[1]) > 0:
            slices.append((words[0].split("/")[0], int(words[1]), cells))
    return sorts, slices


def averages(sorts, slices):
    """Tokens per character of each cell."""
    characters, tokens = np.zeros(len(sorts)), np.zeros(len(sorts))
    for folder, _, cells in slices:
        characters[cells[:, 0]] += WEIGHTS[folder] * cells[:, 2]
        tokens[cells[:, 0]] += WEIGHTS[folder] * cells[:, 3]
    of_sort = lambda values: np.bincount(sorts, values, minlength=SORTS)
    mean = (of_sort(tokens) + 1) / (of_sort(characters) + 1)
    return (tokens + PRIOR * mean[sorts]) / (characters + PRIOR)


def levels(density):
    """The characters that stand for densities, and the densities they stand for (`cost` in densities.rs)."""
    level = np.clip(np.round(np.sqrt(density * 1849)), 0, 86).astype(int)
    return level, (level * level * 1000 // 1849) / 1000


def solve(x, missing, cost, bounds, too_small):
    """The margins with the least slack, if an upper size that is too small costs so much."""
    rows = missing > 0
    count = int(rows.sum())
    wanted = csr_matrix(x[rows] / missing[rows, None])
    found = linprog(
        np.concatenate([cost, np.full(count, too_small)]),
        A_ub=hstack([-wanted, -identity(count)]).tocsr(),
        b_ub=-np.ones(count),
        bounds=bounds + [(0, 1)] * count,
    )
    return found.x[:SORTS]


def margins(sorts, slices, density):
    """The smallest margins, and how good they are."""
    x = np.zeros((len(slices), SORTS))
    by_bytes, truth = np.zeros(len(slices)), np.zeros(len(slices))
    for row, (_, tokens, cells) in enumerate(slices):
        of_cell = sorts[cells[:, 0]]
        x[row] = np.bincount(of_cell, density[cells[:, 0]] * cells[:, 2], minlength=SORTS)
        by_bytes[row] = cells[of_cell == RARE, 1].sum()
        truth[row] = tokens
    x[:, RARE] = 0
    base = x.sum(1) + by_bytes
    missing = truth - base - SPREAD * np.sqrt(base) - FLOOR
    folders = np.array([folder for folder, _, _ in slices])
    prose, usual = folders == "prose", folders == "usual"
    share = x / truth[:, None]
    cost = share[prose].mean(0) * 7 + share[usual].mean(0) * 7 + share.mean(0) * 1.5 + 0.002
    missing[folders == "noise"] = -1
    # First what is usual, tightly; then the rest, so that hardly any slice is too large.
    bounds = [(least / 100, 3) for least in LEAST]
    usual_margins = solve(x, missing, cost, bounds, TOO_SMALL)
    bounds = [(usual_margins[sort],) * 2 if sort in USUAL else bounds[sort] for sort in range(SORTS)]
    found = solve(x, missing, cost, bounds, TOO_SMALL_ELSEWHERE)
    percent = np.ceil(found * 100 + 0.5).astype(int)
    percent[RARE] = 0
    slack = (base + SPREAD * np.sqrt(base) + FLOOR + x @ (percent / 100)) / truth - 1
    real = slack[folders != "noise"]
    print(f"  too small: {(real < 0).mean():.3%}, at worst by {max(0.0, -real.min()):.2%}; slack of prose {np.median(slack[prose]):.1%}, of what is usual {np.median(slack[usual]):.1%}")
    return percent


def main():
    counts, tables = map(Path, sys.argv[1:])
    lines, made = [], {}
    for family, vocabularies in FAMILIES.items():
        key = tuple(vocabularies)
        if key not in made:
            print(family)
            files = [read(counts / f"{name}.txt") for name in vocabularies]
            sorts, slices = files[0][0], [slice for _, more in files for slice in more]
            level, density = levels(averages(sorts, slices))
            made[key] = margins(sorts, slices, density)
            text = "".join(chr(ord("(") + number) for number in level)
            rows = [text[at : at + 120] for at in range(0, len(text), 120)]
            (tables / f"{family}.txt").write_text("\n".join(rows) + "\n")
        lines.append(" ".join(map(str, made[key])))
    (tables / "margins.txt").write_text("\n".join(lines) + "\n")


main()
