/** What our own MCP server is called, and its tools: for clients that report a tool without its server. */
export const OWN_MCP_SERVER = 'claude-mem'
export const OWN_MCP_TOOLS: readonly string[] = [
  'search_memory',
  'timeline',
  'get_observations',
  'get_session_summary',
  'get_project_context',
  'remember',
  'forget',
]
