"""The same question asked of retrievers and language models: is the less popular namesake found?"""
