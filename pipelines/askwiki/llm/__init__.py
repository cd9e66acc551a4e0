"""Language models behind one small Protocol."""
