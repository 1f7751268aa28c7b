"""The figures that the papers on retrieval and reading print, in percent as they stand there."""

from __future__ import annotations

AMBER_SOURCE = (
    "Chen et al. (2021), Evaluating Entity Disambiguation and the Role of Popularity in Retrieval-Based NLP, ACL 2021,"
    " pp. 4472-4485, https://doi.org/10.18653/v1/2021.acl-long.345"
)
ENTITY_QUESTIONS_SOURCE = (
    "Sciavolino et al. (2021), Simple Entity-Centric Questions Challenge Dense Retrievers, EMNLP 2021,"
    " https://doi.org/10.18653/v1/2021.emnlp-main.496"
)

AMBIGDOCS_SOURCE = (
    "Lee et al. (2024), AmbigDocs: Reasoning across Documents on Different Entities under the Same Name, COLM 2024,"
    " https://arxiv.org/abs/2404.12447"
)

# All, head, tail and all correct (∀).
Row = tuple[float | None, float | None, float | None, float | None]
Tasks = dict[str, Row]

# Table 5: accuracy@1.
AMBER_TOP_1: dict[str, dict[str, Tasks]] = {
    "human": {
        "TF-IDF": {"fc": (17.3, 28.5, 8.2, 0.0), "sf": (18.8, 31.9, 8.1, 0.0), "qa": (16.7, 28.2, 7.3, 0.1)},
        "DPR": {"fc": (18.1, 23.9, 13.3, 0.1), "sf": (8.0, 11.6, 5.1, 0.3), "qa": (13.1, 19.6, 7.9, 1.1)},
        "BLINK": {"fc": (55.9, 64.4, 49.0, 5.6), "sf": (38.2, 57.0, 22.9, 11.5), "qa": (31.7, 40.5, 24.6, 6.6)},
        "Bootleg": {"fc": (34.8, 43.0, 28.2, 0.7), "sf": (56.5, 63.9, 50.6, 25.3), "qa": (67.2, 77.1, 59.1, 36.1)},
    },
    "nonhuman": {
        "TF-IDF": {"fc": (9.4, 13.6, 4.9, 0.0), "sf": (13.4, 21.0, 5.2, 0.2), "qa": (13.9, 21.7, 5.4, 0.3)},
        "DPR": {"fc": (36.9, 48.0, 24.8, 4.4), "sf": (29.9, 40.9, 18.0, 6.0), "qa": (36.2, 49.2, 22.2, 9.3)},
        "BLINK": {"fc": (11.7, 13.9, 9.4, 0.0), "sf": (5.7, 7.3, 3.9, 0.7), "qa": (35.2, 44.7, 24.9, 10.1)},
        "Bootleg": {"fc": (3.5, 4.6, 2.4, 0.0), "sf": (52.3, 61.3, 42.5, 22.4), "qa": (59.8, 69.5, 49.3, 29.0)},
    },
}

# Table 9: accuracy@20. A figure that no copy at hand shows beyond doubt is None.
AMBER_TOP_20: dict[str, dict[str, Tasks]] = {
    "human": {
        "TF-IDF": {"fc": (65.8, 78.5, None, None), "sf": (72.0, None, 62.5, 55.6), "qa": (72.6, 82.0, None, None)},
        "DPR": {"fc": (39.8, 51.0, None, None), "sf": (26.6, None, 18.1, 6.8), "qa": (36.1, 49.3, None, None)},
        "BLINK": {"fc": (78.6, 82.0, None, None), "sf": (73.3, None, 72.8, 64.6), "qa": (58.8, 60.3, None, None)},
        "Bootleg": {"fc": (96.5, 97.6, None, None), "sf": (96.6, None, 95.7, 93.6), "qa": (96.5, 97.6, None, None)},
    },
    "nonhuman": {
        "TF-IDF": {"fc": (50.8, 57.0, 44.1, 12.0), "sf": (46.8, 53.4, 39.7, 35.3), "qa": (52.0, 59.1, 44.4, None)},
        "DPR": {"fc": (62.3, 75.8, 47.7, 27.8), "sf": (57.3, 71.4, 42.0, 29.4), "qa": (63.4, 77.9, 47.8, None)},
        "BLINK": {"fc": (33.5, 38.7, 27.9, 1.3), "sf": (18.2, 21.5, 14.6, 5.8), "qa": (74.7, 80.6, 68.3, None)},
        "Bootleg": {"fc": (79.3, 80.2, 78.4, 61.5), "sf": (89.6, 91.9, 87.1, 85.3), "qa": (83.8, 83.6, 84.1, None)},
    },
}
AMBER_BY_K = {1: AMBER_TOP_1, 20: AMBER_TOP_20}

# Table 6: entity confusion, head and tail.
AMBER_CONFUSION: dict[str, dict[str, dict[str, tuple[float, float]]]] = {
    "human": {
        "TF-IDF": {"fc": (19.5, 67.5), "sf": (28.2, 75.7), "qa": (27.9, 76.1)},
        "DPR": {"fc": (1.2, 10.0), "sf": (2.3, 23.8), "qa": (2.6, 27.0)},
        "BLINK": {"fc": (9.8, 32.2), "sf": (14.0, 58.2), "qa": (4.4, 27.6)},
        "Bootleg": {"fc": (6.2, 24.7), "sf": (9.3, 30.5), "qa": (3.7, 28.7)},
    },
    "nonhuman": {
        "TF-IDF": {"fc": (10.1, 49.9), "sf": (22.0, 76.9), "qa": (23.0, 76.8)},
        "DPR": {"fc": (6.2, 32.2), "sf": (9.1, 48.3), "qa": (8.7, 44.0)},
        "BLINK": {"fc": (5.8, 22.8), "sf": (5.1, 32.2), "qa": (5.5, 31.9)},
        "Bootleg": {"fc": (7.7, 26.1), "sf": (16.1, 36.2), "qa": (7.8, 31.6)},
    },
}

# Table 7: readers with the right document (oracle) or the first 20 of a retriever; all, head and tail. Accuracy for
# fact checking, F1 for the others. For questions about people with the right document, the figure for all is printed
# below those for head and tail, of which it should be a mean; it is given as printed.
AMBER_READING: dict[str, dict[str, dict[str, tuple[float, float, float]]]] = {
    "human": {
        "BERT (oracle)": {"fc": (77.7, 73.6, 80.3), "qa": (71.4, 77.7, 83.0)},
        "BERT + BLINK": {"fc": (59.8, 60.1, 57.7), "qa": (27.5, 33.8, 22.3)},
        "BART (oracle)": {"sf": (83.9, 85.0, 83.5)},
        "BART + BLINK": {"sf": (34.4, 38.2, 32.6)},
    },
    "nonhuman": {
        "BERT (oracle)": {"fc": (66.6, 63.9, 69.5), "qa": (83.5, 85.1, 81.8)},
        "BERT + DPR": {"fc": (60.9, 61.4, 60.4), "qa": (26.0, 31.3, 20.4)},
        "BART (oracle)": {"sf": (82.1, 80.1, 84.3)},
        "BART + DPR": {"sf": (18.6, 18.6, 18.6)},
    },
}

# Table 8: which of three documents a system chooses, and the exact match of answers; people (AmbER-H) and things.
AMBER_THREE_DOCUMENTS: dict[str, tuple[float, float]] = {
    "TF-IDF": (43.3, 50.3),
    "DPR": (69.1, 68.3),
    "BLINK": (69.1, 74.1),
    "Bootleg": (79.6, 73.1),
    "Human": (100, 97.9),
}
AMBER_EXACT_MATCH: dict[str, tuple[float, float]] = {"BERT": (71.8, 75.5), "Human": (78.8, 77.5)}

# The poster on AmbigDocs: agreement on the five kinds of answers. It does not say how agreement is measured.
AMBIGDOCS_AGREEMENT = {"people": 0.85, "people and automatic": 0.83}

# EntityQuestions, Table 5: top-20 accuracy of DPR trained on NQ, DPR trained on four datasets, and BM25, by relation.
# The relations P413 and P800 have their figures under their own numbers; the table has their questions exchanged.
SYSTEMS = ("DPR (NQ)", "DPR (multi)", "BM25")
ENTITY_QUESTIONS: dict[str, tuple[float, float, float]] = {
    "P36": (77.3, 78.9, 90.6),
    "P407": (77.1, 82.5, 86.2),
    "P26": (35.6, 48.1, 89.7),
    "P159": (70.0, 72.0, 85.0),
    "P276": (74.9, 77.3, 84.9),
    "P40": (19.2, 33.8, 85.0),
    "P176": (61.7, 73.7, 81.0),
    "P20": (34.4, 45.1, 80.4),
    "P112": (77.1, 75.7, 81.2),
    "P127": (60.7, 63.8, 78.4),
    "P19": (25.4, 41.8, 75.3),
    "P740": (59.9, 61.6, 74.4),
    "P413": (75.7, 71.5, 74.3),
    "P800": (19.0, 33.9, 74.7),
    "P69": (26.4, 41.8, 73.1),
    "P50": (75.7, 77.8, 73.0),
    "P170": (54.1, 57.7, 72.6),
    "P106": (25.9, 52.9, 71.2),
    "P131": (45.7, 44.2, 63.1),
    "P17": (64.2, 67.7, 61.5),
    "P175": (47.6, 51.5, 56.6),
    "P136": (37.4, 36.8, 48.7),
    "P264": (25.3, 43.2, 45.6),
    "P495": (21.6, 28.0, 21.8),
}
MACRO, MICRO = (49.7, 56.7, 72.0), (49.5, 56.6, 71.3)
# Table 1 has the same and beside it the accuracy on Natural Questions.
NATURAL_QUESTIONS = (80.1, 79.4, 64.4)

# Table 2: fine-tuning on one relation, tested on the same.
TRAINED_RELATIONS = ("P19", "P159", "P170")
FINE_TUNING: dict[str, tuple[float, float, float]] = {
    "DPR-NQ": (25.4, 70.0, 54.1),
    "FT": (73.9, 84.0, 80.0),
    "FT w/ similar": (74.7, 79.9, 76.2),
    "FT OnlyP": (72.8, 84.2, 78.0),
    "FT OnlyQ": (45.4, 72.8, 73.4),
    "BM25": (75.3, 85.0, 72.6),
}
# Table 3: Natural Questions, the trained relation, and all of EntityQuestions, by the relation that was trained.
AUGMENTATION: dict[str, dict[str, tuple[float, float | None, float]]] = {
    "P19": {"DPR-NQ": (80.1, 25.4, 49.7), "+ FT": (62.8, 74.3, 56.2), "+ FT NQ and it": (70.8, 52.0, 47.4)},
    "P159": {"DPR-NQ": (80.1, 70.0, 49.7), "+ FT": (71.6, 80.3, 53.3), "+ FT NQ and it": (75.1, 81.3, 49.5)},
    "P170": {"DPR-NQ": (80.1, 54.1, 49.7), "+ FT": (70.8, 80.8, 52.3), "+ FT NQ and it": (72.6, 72.3, 44.1)},
    "": {"BM25": (64.4, None, 72.0)},
}
# Table 4: the mean over all relations with a fixed passage encoder, of DPR trained on NQ or on PAQ.
QUESTION_ENCODERS: dict[str, float] = {
    "DPR-NQ": 45.1,
    "DPR-NQ + per-relation FT (OnlyQ)": 61.6,
    "DPR-NQ + EntityQuestions FT (OnlyQ)": 53.0,
    "DPR-PAQ": 59.3,
    "DPR-PAQ + per-relation FT (OnlyQ)": 68.4,
    "DPR-PAQ + EntityQuestions FT (OnlyQ)": 65.4,
    "BM25": 72.0,
}
