"""A page into chunks that hold a whole thought."""
