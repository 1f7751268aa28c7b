"""New sets and questions from Wikidata: where the facts come from, and how popular their entities are."""
