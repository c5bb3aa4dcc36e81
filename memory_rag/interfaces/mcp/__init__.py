"""The memory as an MCP server, for Claude Desktop, Claude Code, Cursor, VS Code and any other client."""
