"""Open WebUI's edge: events, the plugins' work, valves, service requests, the seal, provision, ratings."""
