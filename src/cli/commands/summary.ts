import { payloadCommand } from '../payload-command.ts'

export const summary = payloadCommand({
  name: 'summary',
  summary: 'Report the end of a turn from a hook that you registered by hand',
  example: { last_assistant_message: 'The cart keeps its items now.' },
})
