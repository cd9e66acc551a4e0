"""A catalog of services (Backstage) as a source of pages: strict relations told as sentences."""
