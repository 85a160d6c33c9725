/** How long a memory takes to answer: a search by words and meaning, the context of a project, a session that starts. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { ChannelClient } from '../../src/channel/client.ts'
import { projectOf } from '../../src/memory/project.ts'
import { NO_FILTERS } from '../../src/search/query.ts'
import { VERSION } from '../../src/version.ts'
import { eventOf } from '../lib/events.ts'
import type { Place } from '../lib/place.ts'
import { Random } from '../lib/random.ts'
import { median } from '../lib/stats.ts'
import { subjectOf } from './code.ts'
import { CAUSES, PROJECTS } from './projects.ts'

const ASKED = 60
/** The first answers have everything loaded. */
const WARM_UP = 10
const FIRST_ANSWER_MS = 300_000

/** Medians, in ms. */
export interface Answers {
  searchMs: number
  contextMs: number
  startMs: number
}

/** `root`: where the projects are. */
export async function answersOf(place: Place, root: string, seed: number): Promise<Answers> {
  const random = new Random(seed)
  const client = await ChannelClient.connect(place.paths)
  const cwd = () => join(root, 'work', random.pick(PROJECTS).name)
  try {
    const searchMs = await timed(async () => {
      const { name, noun, quality } = subjectOf(random.pick(PROJECTS), random)
      const query = random.pick([
        `why did ${name} keep ${quality} ${noun}s`,
        `${noun} ${quality} ${random.pick(CAUSES)}`,
      ])
      const request = { query, mode: 'hybrid' as const, filters: NO_FILTERS, limit: 10, offset: 0 }
      await client.request('found', { type: 'search', request }, FIRST_ANSWER_MS)
    })
    const contextMs = await timed(() => client.request('context', { type: 'context', project: projectOf(cwd()).key }))
    const startMs = await timed(() => {
      const payload = {
        session_id: randomUUID(),
        prompt_id: '',
        cwd: cwd(),
        hook_event_name: 'SessionStart',
        source: 'startup',
      }
      return client.request('ack', { type: 'event', event: eventOf(payload), version: VERSION })
    })
    return { searchMs, contextMs, startMs }
  } finally {
    client.close()
  }
}

async function timed(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < WARM_UP + ASKED; n++) {
    const began = performance.now()
    await ask()
    if (n >= WARM_UP) times.push(performance.now() - began)
  }
  return median(times)
}
