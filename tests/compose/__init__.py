"""The whole compose file in real containers: ``make test-compose``."""
