"""The models behind the Protocols of ``embedding`` and ``sparse``, each library in its own file."""
