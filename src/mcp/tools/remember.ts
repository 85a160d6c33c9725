import { z } from 'zod'
import { MemError } from '../../errors.ts'
import { cleanText } from '../../memory/clean.ts'
import { estimateTokens } from '../../memory/observation.ts'
import { isWhollyPrivate } from '../../memory/privacy.ts'
import { concepts, files, observationType } from '../inputs.ts'
import { cost, words } from '../text.ts'
import { tool } from '../tool.ts'

const MAX_TITLE_CHARS = 200
/** About a thousand tokens: a memory is a note, and somebody pays for reading it. */
const MAX_TEXT_CHARS = 4_000
const NAME_CHARS = 200

export const remember = tool({
  name: 'remember',
  title: 'Keep a memory',
  description:
    'Keeps a note for later sessions of this project. What happens in a session is remembered by itself: use this when ' +
    'the user asks for it, or for what no tool call shows, like a decision and its reason. Search first, so as not to ' +
    'keep it twice. Secrets are masked and <private> parts left out.',
  input: z.strictObject({
    title: z.string().trim().min(1).max(MAX_TITLE_CHARS).describe('One line that says it: rows show only this'),
    text: z.string().trim().min(1).max(MAX_TEXT_CHARS).describe('What to know, and why'),
    type: observationType.default('decision'),
    concepts: concepts.default([]).describe('Words to find it by'),
    files: files.default([]).describe('Paths that it is about'),
  }),
  output: z.object({ id: z.int(), project: z.string(), tokens: z.int().describe('What reading it costs') }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  run: async (args, { memory, here }) => {
    if (here.isExcluded()) {
      throw new MemError(
        'forbidden',
        'this project is excluded from memory (CLAUDE_MEM_EXCLUDED_PROJECTS): nothing of it is kept',
      )
    }
    if (isWhollyPrivate(args.title) || isWhollyPrivate(args.text)) {
      throw new MemError('bad_request', 'all of it is marked as private: there is nothing that may be kept')
    }
    const title = cleanText(args.title, MAX_TITLE_CHARS)
    const text = cleanText(args.text, MAX_TEXT_CHARS)
    const { id } = await memory.remember({
      project: here.project,
      cwd: here.cwd,
      title,
      text,
      kind: args.type,
      concepts: args.concepts.map((concept) => cleanText(concept)),
      files: args.files.map((file) => cleanText(file)),
    })
    const data = { id, project: words(here.project.name, NAME_CHARS), tokens: estimateTokens(`${title}\n${text}`) }
    return { data, text: `Remembered as #${id} in ${data.project} (${cost(data.tokens)}).` }
  },
})
