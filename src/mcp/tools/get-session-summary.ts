import { z } from 'zod'
import { type Summary, tokensOf } from '../../memory/observation.ts'
import { project, session } from '../inputs.ts'
import { projectAsked } from '../place.ts'
import { cost, few, prose, shortSession, sum, when } from '../text.ts'
import { READS, tool } from '../tool.ts'

const DEFAULT_SUMMARIES = 3
const MAX_SUMMARIES = 10
/** Tokens of one answer: ten ordinary summaries, or the newest of very long ones. */
const MAX_ANSWER_TOKENS = 4_000
/** Of one field: a summary within these bounds always fits into an answer. */
const FIELD_CHARS = 2_000
const MAX_FILES = 10
const FILE_CHARS = 150

const FIELDS = [
  ['request', 'Request'],
  ['investigated', 'Investigated'],
  ['learned', 'Learned'],
  ['completed', 'Completed'],
  ['next_steps', 'Next steps'],
  ['notes', 'Notes'],
] as const

const part = z.string().optional()
const paths = z.array(z.string()).optional()

const summarySchema = z.object({
  session: z.string(),
  prompt: z.int().describe('Which prompt of its session'),
  at: z.string().describe("In the user's time zone"),
  request: part,
  investigated: part,
  learned: part,
  completed: part,
  next_steps: part,
  notes: part,
  files_read: paths,
  files_edited: paths,
})
type Shown = z.input<typeof summarySchema>

export const getSessionSummary = tool({
  name: 'get_session_summary',
  title: 'What turns came to',
  description:
    'Summaries of turns: what was asked, learned, completed, and the next steps, newest first; some 150 tokens each. ' +
    'Of one session, or without it the newest of the project: the quickest way to see where work was left off.',
  input: z.strictObject({
    session,
    project,
    limit: z.int().min(1).max(MAX_SUMMARIES).default(DEFAULT_SUMMARIES),
  }),
  output: z.object({
    summaries: z.array(summarySchema),
    tokens: z.int().describe('What this answer costs'),
    next: z.string().optional(),
  }),
  annotations: READS,
  run: async (args, { memory, here }) => {
    const { limit } = args
    const wanted = args.session ?? null
    // A session says its project itself.
    const asked = wanted !== null && args.project === undefined ? null : projectAsked(args.project, here)
    const found = await memory.summaries({ session: wanted, project: asked, limit })
    const shown = withinBudget(found.slice(0, limit).map(shownOf))
    const data = { summaries: shown, tokens: sum(shown.map(tokensIn)), next: nextStep(found.length, shown.length) }
    const parts = [...shown.map(textOf), data.next ?? '', shown.length === 0 ? '' : cost(data.tokens)]
    return { data, text: parts.filter((text) => text !== '').join('\n\n') }
  },
})

function nextStep(found: number, shown: number): string | undefined {
  if (found === 0) return 'No summary yet: a turn gets one when it ends. search_memory may know what it learned so far.'
  return shown < found
    ? `${found - shown} older ones had no room: ask with a smaller limit, or for one session.`
    : undefined
}

function withinBudget(all: readonly Shown[]): Shown[] {
  let room = MAX_ANSWER_TOKENS
  const end = all.findIndex((shown, i) => {
    room -= tokensIn(shown)
    return i > 0 && room < 0
  })
  return end === -1 ? [...all] : all.slice(0, end)
}

function tokensIn(shown: Shown): number {
  return tokensOf(JSON.stringify(shown).length)
}

function shownOf(summary: Summary): Shown {
  const field = (text: string | null) => prose(text, FIELD_CHARS) || undefined
  return {
    session: shortSession(summary.session),
    prompt: summary.promptNumber,
    at: when(summary.createdAt),
    request: field(summary.request),
    investigated: field(summary.investigated),
    learned: field(summary.learned),
    completed: field(summary.completed),
    next_steps: field(summary.nextSteps),
    notes: field(summary.notes),
    files_read: few(summary.filesRead, MAX_FILES, FILE_CHARS),
    files_edited: few(summary.filesEdited, MAX_FILES, FILE_CHARS),
  }
}

function textOf(shown: Shown): string {
  const lines = FIELDS.map(([field, label]) => {
    const text = shown[field]
    return text === undefined ? '' : `${label}: ${text}`
  })
  const files = [
    shown.files_read === undefined ? '' : `Files read: ${shown.files_read.join(', ')}`,
    shown.files_edited === undefined ? '' : `Files edited: ${shown.files_edited.join(', ')}`,
  ]
  const head = `Session ${shown.session}, prompt ${shown.prompt}, ${shown.at}`
  return [head, ...lines, ...files].filter((line) => line !== '').join('\n')
}
