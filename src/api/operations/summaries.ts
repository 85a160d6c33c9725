/** The summary on demand, of a turn or of a whole session. The session's actor makes it; here it is requested and read. */
import * as z from 'zod'
import { sessionNotFound } from '../../domain/event.ts'
import type { Observation, Summary } from '../../domain/observation.ts'
import { MemError } from '../../lib/errors.ts'
import type { SessionStory } from '../../store/port.ts'
import type { DaemonContext } from '../context.ts'
import { daemonOperation } from '../operation.ts'
import { resolveLocalSession } from '../resolve.ts'
import { id, MAX_STORY_ROWS } from '../schemas.ts'
import { waitUntilSettled } from '../settle.ts'

/** Files that the answer names; the observations have all of them. */
const MAX_KEY_FILES = 20

export const summaryOperations = {
  summarize: daemonOperation({
    about:
      'Summarises the whole session, or with `prompt` one turn, now. Waiting messages are observed first. Answered when the summary is stored, or after CLAUDE_MEM_DELETE_TIMEOUT; it is then made later.',
    input: z.object({
      session: id,
      prompt: z.int().min(0).nullable().default(null).describe('Number of the turn; null: the whole session'),
      whole: z.boolean().default(false).describe('The whole session, which is the default without `prompt`'),
    }),
    answerDescription:
      '`session`, `done`, `summary` (null until it is done), `keyFiles` (most used first), `decisions` (`id`, `title`), `waiting`: why it is not done yet',
    handle: async (context, { session: prefix, prompt, whole }) => {
      if (whole && prompt !== null) throw new MemError('bad_request', 'give either prompt or whole, not both')
      return await summarizeNow(context, await resolveLocalSession(context.store, prefix, context.me()), prompt)
    },
    rest: [{ method: 'POST', path: '/api/summarize' }],
  }),
}

async function summarizeNow(context: DaemonContext, session: string, prompt: number | null) {
  const { supervisor, store } = context
  const before = await readStory(context, session)
  refuseWithoutContent(before, session, prompt)
  const known = new Set(before.summaryRows.map((summary) => summary.id))
  await supervisor.summarize(session, prompt)
  await waitUntilSettled(context, session)
  const after = await readStory(context, session)
  const summary = newestSummary(after, prompt)
  const done = summary !== null && !known.has(summary.id)
  const observations = after.observationRows.filter((one) => prompt === null || one.promptNumber === prompt)
  return {
    session,
    done,
    summary: done ? summary : null,
    keyFiles: mostUsedFiles(observations),
    decisions: observations.flatMap((one) => (one.type === 'decision' ? [{ id: one.id, title: one.title }] : [])),
    waiting: done ? null : ((await store.session(session))?.waiting ?? 'the observer has not answered yet'),
  }
}

async function readStory({ store }: DaemonContext, session: string): Promise<SessionStory> {
  const story = await store.sessionHistory(session, { trace: 0, rows: MAX_STORY_ROWS })
  if (story === null) throw sessionNotFound(session)
  return story
}

function refuseWithoutContent(story: SessionStory, session: string, prompt: number | null): void {
  if (prompt === null) {
    if (story.row.prompts + story.observations + story.messages.length > 0) return
    throw new MemError('bad_request', `session ${session} has nothing to summarise yet`)
  }
  if (prompt > story.row.prompts) {
    throw new MemError('not_found', `session ${session} has ${story.row.prompts} turns; there is no turn ${prompt}`)
  }
  if (story.prompts.some((row) => row.number === prompt && row.private)) {
    throw new MemError('bad_request', `turn ${prompt} is private: nothing of it is stored`)
  }
}

function newestSummary({ summaryRows }: SessionStory, prompt: number | null): Summary | null {
  const wanted = (one: Summary) =>
    prompt === null ? one.whole === true : one.whole !== true && one.promptNumber === prompt
  const found = summaryRows.filter(wanted)
  // Other members may have summarised the session too.
  const here = found.filter(({ author }) => author == null)
  const [first, ...rest] = here.length > 0 ? here : found
  return first === undefined ? null : rest.reduce((newest, one) => (one.id > newest.id ? one : newest), first)
}

/** A changed file counts more than one that was only read. */
const MODIFIED_WEIGHT = 3

function mostUsedFiles(observations: readonly Observation[]): string[] {
  const weights = new Map<string, number>()
  const add = (file: string, weight: number) => weights.set(file, (weights.get(file) ?? 0) + weight)
  for (const { filesModified, filesRead } of observations) {
    for (const file of filesModified) add(file, MODIFIED_WEIGHT)
    for (const file of filesRead) add(file, 1)
  }
  return [...weights]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_KEY_FILES)
    .map(([file]) => file)
}
