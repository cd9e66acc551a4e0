"""Who may read what: identity, groups, and the keys a person passes."""
