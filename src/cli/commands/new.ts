import { payloadCommand } from '../payload-command.ts'

// `new` is a word of the language.
export const newPrompt = payloadCommand({
  name: 'new',
  summary: 'Report a prompt from a hook that you registered by hand',
  example: { prompt: 'Why is the cart empty?' },
})
