"""One process for MCP clients, chat clients and a browser: who may ask, how much, and of which memory."""
