"""An answer checked sentence by sentence: support, markers, links, diagrams."""
