/** The daemon dies in the middle of a run of the real Claude Code, twice: the client goes on, and nothing is lost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { can } from './abilities.ts'
import { ClientPlace } from './client-place.ts'
import type { Scripts } from './messages-api.ts'
import type { Line } from './talk.ts'
import { bash, countsOf, expectedTools, storedTools } from './work.ts'

const LAST_WORDS = 'All of it is done.'
const TOOLS = 5

const scripts = (place: ClientPlace): Scripts => ({
  warm: [{ text: 'Fine.' }],
  work: [
    { tools: [bash('echo one')] },
    { tools: [bash('echo two'), bash('echo three')], before: () => place.killDaemon() },
    { tools: [bash('echo four')] },
    { tools: [bash('echo five')] },
    // Whoever starts it again is the hook of the turn's end.
    { text: LAST_WORDS, before: () => place.killDaemon() },
  ],
})

let place: ClientPlace
let lines: Line[]
let session: string
beforeAll(async () => {
  place = await ClientPlace.make(scripts)
  await place.memOk('install')
  const talk = place.talk(...(can('hookOutput') ? ['--include-hook-events'] : []))
  await talk.say('[[script:warm]] begin')
  session = await talk.say('[[script:work]] go on')
  await talk.end()
  lines = talk.lines
})
afterAll(() => place?.dispose())

describe('with a daemon that is killed twice in the middle of a session', () => {
  it('the client runs everything and says its last words', () => {
    expect(place.api.issued).toHaveLength(TOOLS)
    expect(lines.findLast(({ type }) => type === 'result')).toMatchObject({ is_error: false, result: LAST_WORDS })
  })

  it('no hook fails, and the user is told nothing', () => {
    const hooks = lines.filter(({ subtype }) => subtype === 'hook_response')
    if (can('hookOutput')) expect(hooks.length).toBeGreaterThan(TOOLS)
    const failed = hooks.filter(({ exit_code: code, stderr }) => (code ?? 0) !== 0 || (stderr ?? '') !== '')
    expect(failed.map(({ hook_name: name }) => name)).toEqual([])
    expect(hooks.filter(({ output }) => output?.includes('systemMessage') === true)).toEqual([])
  })

  it('every tool use, prompt and end of a turn is stored', async () => {
    await place.settled()
    const stored = await place.events(session)
    expect(storedTools(stored)).toEqual(expectedTools(place.api.issued))
    expect(countsOf(stored)).toEqual({ starts: 1, prompts: 2, turnEnds: 2, sessionEnds: 1 })
  })
})
