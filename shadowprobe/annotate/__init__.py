"""The human study of the paper: what people make of the contexts (section 3)."""
