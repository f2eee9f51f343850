"""Writes Mistral's older vocabulary, a SentencePiece model, as a tokenizer.json.

Usage: convert.py FOLDER_OF_MISTRAL_COMMON OUT
"""
import json
import sys
from pathlib import Path

import sentencepiece

folder, out = map(Path, sys.argv[1:])
model = sentencepiece.SentencePieceProcessor(model_proto=(folder / "data" / "tokenizer.model.v1").read_bytes())
pieces = [model.id_to_piece(number) for number in range(model.get_piece_size())]
vocabulary = {piece: number for number, piece in enumerate(pieces)}
# A piece is put together from any two that are pieces too; those with the higher score first.
merges = [
    (-model.get_score(number), number, piece[:cut], piece[cut:])
    for number, piece in enumerate(pieces)
    for cut in range(1, len(piece))
    if piece[:cut] in vocabulary and piece[cut:] in vocabulary
]
merges.sort(key=lambda merge: merge[:2])
blank = "\u2581"
out.write_text(
    json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "Prepend", "prepend": blank},
                    {"type": "Replace", "pattern": {"String": " "}, "content": blank},
                ],
            },
            "pre_tokenizer": None,
            "post_processor": None,
            "decoder": None,
            "model": {
                "type": "BPE",
                "unk_token": "<unk>",
                "fuse_unk": True,
                "byte_fallback": True,
                "vocab": vocabulary,
                "merges": [[left, right] for _, _, left, right in merges],
            },
        },
        ensure_ascii=False,
    )
)
