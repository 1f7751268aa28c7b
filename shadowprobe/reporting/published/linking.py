"""The figures that the paper prints in its Tables 3 and 4."""

from __future__ import annotations

SOURCE = (
    "Provatorova et al. (2021), Robustness Evaluation of Entity Disambiguation Using Prior Probes: the Case of Entity"
    " Overshadowing, EMNLP 2021, pp. 10501-10510, https://doi.org/10.18653/v1/2021.emnlp-main.820"
)
Figures = dict[str, tuple[float, ...]]

# Precision, recall and F1 on Shadow, Top and Tail.
_TABLE_3 = {
    "AGDISTIS/MAG (Usbeck et al., 2014)": ((0.14, 0.14, 0.14), (0.25, 0.25, 0.25), (0.79, 0.79, 0.79)),
    "AIDA (Yosef et al., 2011)": ((0.40, 0.31, 0.35), (0.62, 0.50, 0.56), (0.92, 0.53, 0.67)),
    "DBpedia Spotlight (Mendes et al., 2011)": ((0.16, 0.10, 0.12), (0.41, 0.25, 0.31), (0.97, 0.11, 0.19)),
    "FOX (Speck and Ngomo, 2014)": ((0.17, 0.07, 0.10), (0.29, 0.14, 0.19), (0.82, 0.35, 0.49)),
    "TagMe 2 (Ferragina and Scaiella, 2010)": ((0.34, 0.25, 0.29), (0.69, 0.49, 0.57), (0.95, 0.74, 0.83)),
    "WAT (Piccinno and Ferragina, 2014)": ((0.40, 0.19, 0.26), (0.72, 0.39, 0.51), (0.95, 0.49, 0.65)),
    "GENRE (De Cao et al., 2020)": ((0.26, 0.26, 0.26), (0.42, 0.42, 0.42), (0.93, 0.93, 0.93)),
    "REL (van Hulst et al., 2020)": ((0.21, 0.21, 0.21), (0.54, 0.54, 0.54), (0.91, 0.91, 0.91)),
}
TABLE_3: dict[str, Figures] = {
    system: dict(zip(("shadow", "top", "tail"), figures, strict=True)) for system, figures in _TABLE_3.items()
}

# The paper prints three columns for each subset, in percent, under these headings. They are not set against the five
# shares of a run: which of them the second column is cannot be told from the heading and the paper's text together.
TABLE_4_HEADINGS = ("pred = prior correct", "pred ≠ prior wrong", "NIL")
TABLE_4: dict[str, Figures] = {
    "AIDA": {"top": (15.5, 12.9, 8.6), "shadow": (4.8, 20.0, 7.9)},
    "WAT": {"top": (32.1, 11.7, 27.4), "shadow": (4.2, 31.8, 27.5)},
    "GENRE": {"top": (15.6, 32.4, 0.0), "shadow": (2.2, 43.6, 0.0)},
    "REL": {"top": (32.3, 24.8, 0.6), "shadow": (7.7, 50.9, 0.6)},
}
