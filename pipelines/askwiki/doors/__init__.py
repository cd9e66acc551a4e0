"""Further ways in than the chat: tools over HTTP (OpenAPI) and MCP, on the same core, key, identity and rights."""
