"""Does a quotation say what its page says? Read by a Markdown reader, apart from the code that quotes."""
