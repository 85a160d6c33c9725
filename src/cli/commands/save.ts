import { payloadCommand } from '../payload-command.ts'

export const save = payloadCommand({
  name: 'save',
  summary: 'Report a tool use from a hook that you registered by hand',
  example: { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_response: { stdout: '48 passed' } },
})
