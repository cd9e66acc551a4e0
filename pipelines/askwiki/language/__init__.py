"""Words: stems, terms, glossary, synonyms, keyboard layouts."""
