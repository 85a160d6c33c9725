import { expect, test } from 'vitest'
import { claudeCodeAdapter } from '../../../src/hook/clients/claude-code.ts'

const asked = { hook_event_name: 'PostToolUse', tool_name: 'AskUserQuestion' }
const toolOf = (more: object) => claudeCodeAdapter.translate({ ...asked, ...more }, {}, '')[0]?.tool_name

test('a tool of an MCP server has its server in its name, also where the client leaves it out', () => {
  const mcp_server = { name: 'evil', source: 'dynamic' }
  expect(toolOf({ mcp_server })).toBe('mcp__evil__AskUserQuestion')
  expect(toolOf({ mcp_server, tool_name: 'mcp__evil__ping' })).toBe('mcp__evil__ping')
  expect(toolOf({})).toBe('AskUserQuestion')
})

test('a tool of Cursor, which runs the hooks of Claude Code, does not ask the user by its name', () => {
  expect(toolOf({ cursor_version: '2.4.0' })).toBe('other:AskUserQuestion')
  expect(toolOf({ cursor_version: '2.4.0', tool_name: 'Edit' })).toBe('Edit')
})
