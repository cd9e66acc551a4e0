"""What the process has to do with its machine: memory, files that change, secrets kept out of text."""
