"""Would the tests notice? One small change at a time in the modules that decide: ``python -m tests.mutations``."""
