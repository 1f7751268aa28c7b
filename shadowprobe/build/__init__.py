"""The builder: a ShadowLink-style dataset from a wiki and the web, one file per stage."""
