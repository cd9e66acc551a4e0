"""The vector store: one small port, two adapters (a Qdrant server, the engine in the process)."""
