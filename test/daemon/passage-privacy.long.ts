/**
 * Nothing that may not be kept is in a passage, whichever way it came: random sessions with private prompts and parts,
 * late events of private turns, excluded projects, skipped and own tools, lists of the user, files with keys and secrets,
 * over every door and from transcripts. What may be kept is in a passage: otherwise the test would see nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshSeed, Random } from '../../scripts/lib/random.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { HIT_KINDS } from '../../src/domain/search-query.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { eventDoors, hookPayload } from '../support/event-doors.ts'
import { DIST } from '../support/paths.ts'
import { runProgram } from '../support/programs.ts'
import { TranscriptLines } from '../support/transcript-lines.ts'
import { waitUntil } from '../support/waiting.ts'

const SEED = Number(process.env.PRIVACY_SEED ?? freshSeed())
const PROJECT = '/w/shop'
const EXCLUDED = '/w/hidden/deep'
const SESSIONS = 5
const HOOKED_SESSIONS = 2
const STEPS_PER_SESSION = 4
const RULES = {
  CLAUDE_MEM_PROVIDER: 'offline',
  CLAUDE_MEM_EXCLUDED_PROJECTS: '/w/hidden',
  CLAUDE_MEM_SKIP_TOOLS: 'Skipped',
  CLAUDE_MEM_NEVER_SEND_TOOLS: 'mcp__mail__*',
  CLAUDE_MEM_NEVER_SEND_PATHS: 'ledger/',
}

/** Words that occur once, by what they are about. All in one case, without endings that a stemmer would cut. */
class Words {
  readonly random: Random
  /** May be kept nowhere; in no passage; in a passage. */
  readonly secret = new Map<string, string>()
  readonly withheld = new Map<string, string>()
  readonly kept = new Map<string, string>()
  #count = 0

  constructor(random: Random) {
    this.random = random
  }

  new(
    group: Map<string, string>,
    about: string,
    word = `zq${++this.#count}${this.#letters(6, 'bcdfgkmpvx')}7`,
  ): string {
    group.set(word, about)
    return word
  }

  hidden = (about: string) => this.new(this.secret, about)
  shown = (about: string) => this.new(this.kept, about)
  awsKey = () => this.new(this.secret, 'AWS key', `AKIA${this.#letters(16, 'ABCDEFGHKLMNPQRSTUVWXYZ234567')}`)
  gitHubToken = () =>
    this.new(this.secret, 'GitHub token', this.#letters(36, 'abcdefghkmnpqrstuvwxyzABCDEFGH0123456789'))

  #letters(count: number, from: string): string {
    return Array.from({ length: count }, () => from[this.random.between(0, from.length - 1)]).join('')
  }
}

/** The events of one session in their order, and what they may not show. */
class Script {
  readonly events: MemoryEvent[] = []
  readonly privateTurns: string[] = []
  readonly #session: string
  readonly words: Words
  readonly transcript: string
  #count = 0
  #turn = 0

  constructor(session: string, words: Words, directory: string) {
    this.#session = session
    this.words = words
    this.transcript = join(directory, `${session}.jsonl`)
    writeFileSync(this.transcript, '')
  }

  get turnId(): string {
    return `${this.#session}-turn-${this.#turn}`
  }

  prompt(text: string, cwd = PROJECT): void {
    this.#turn += 1
    this.events.push({ ...this.#base(cwd), kind: 'prompt', text, private: false })
  }

  tool(tool: string, input: object, response: unknown, over: Partial<MemoryEvent> = {}): void {
    const event = { ...this.#base(PROJECT), kind: 'tool_use', tool, input, response, durationMs: null, ...over }
    this.events.push(event as MemoryEvent)
  }

  agentEnd(lastMessage: string, over: Partial<MemoryEvent> = {}): void {
    this.events.push({ ...this.#base(PROJECT), kind: 'subagent_end', lastMessage, ...over } as MemoryEvent)
  }

  turnEnd(lastMessage: string, words: string[], over: Partial<MemoryEvent> = {}): void {
    this.events.push({
      ...this.#base(PROJECT),
      kind: 'turn_end',
      lastMessage,
      error: null,
      words,
      ...over,
    } as MemoryEvent)
  }

  #base(cwd: string) {
    const id = `${this.#session}-${++this.#count}`
    const place = { project: { key: `dir:${cwd}`, name: 'shop' }, cwd, transcriptPath: null as string | null }
    return { id, session: this.#session, at: Date.now(), client: 'rest', promptId: this.turnId, agent: null, ...place }
  }
}

const sentence = (word: string) => `The ${word} queue is read twice, so the total was wrong after each retry.`
const failing = (word: string) => ({ stdout: `FAIL test/total.test.ts\nError: the ${word} total is wrong\n1 failed` })
const AGENT = { id: 'agent-p', type: 'Explore' }

/** Each adds a turn, or a part of one. */
const STEPS: Record<string, (s: Script, w: Words) => void> = {
  'a turn': (s, w) => {
    s.prompt(`Find out: ${sentence(w.shown('prompt'))}`)
    s.tool('Bash', { command: `npm test ${w.shown('command')}` }, failing(w.shown('output')))
    s.turnEnd(sentence(w.shown('closing')), [])
  },
  'private parts': (s, w) => {
    const part = () => `<private>${w.hidden('private part')}</private>`
    s.prompt(`${sentence(w.shown('prompt with a private part'))} ${part()}`)
    s.tool('Bash', { command: `npm test ${part()}` }, failing(part()))
    s.tool(
      'mcp__notes__read',
      { query: 'total' },
      { text: `${sentence('note')} ${part()} and <private>${w.hidden('open part')}` },
    )
    s.agentEnd(`${sentence('report')} ${part()}`)
    s.turnEnd(`${sentence('closing')} ${part()}`, [`${sentence('words')} ${part()}`])
  },
  'a private turn': (s, w) => {
    s.prompt(`<private>${w.hidden('private prompt')}</private>`)
    s.privateTurns.push(s.turnId)
    s.tool('Bash', { command: `npm test ${w.hidden('private command')}` }, failing(w.hidden('private output')))
    s.tool('Bash', { command: 'npm test' }, failing(w.hidden('output of a private agent')), { agent: AGENT })
    s.turnEnd(sentence(w.hidden('private closing')), [sentence(w.hidden('private words'))])
  },
  'late events of a private turn': (s, w) => {
    s.prompt(sentence(w.shown('prompt before late events')))
    for (const promptId of s.privateTurns) {
      s.tool('Bash', { command: 'npm test' }, failing(w.hidden('late output')), { promptId })
      s.agentEnd(sentence(w.hidden('late report')), { promptId, agent: AGENT })
      s.turnEnd(sentence(w.hidden('late closing')), [sentence(w.hidden('late words'))], { promptId })
    }
    s.turnEnd(sentence(w.shown('closing after late events')), [])
  },
  'an excluded project': (s, w) => {
    s.prompt(sentence(w.hidden('prompt in an excluded project')), EXCLUDED)
    s.tool('Bash', { command: 'npm test' }, failing(w.hidden('excluded output')), { cwd: EXCLUDED })
    s.turnEnd(sentence(w.hidden('excluded closing')), [sentence(w.hidden('excluded words'))], { cwd: EXCLUDED })
  },
  'tools that are not observed': (s, w) => {
    s.prompt(sentence(w.shown('prompt before skipped tools')))
    s.tool('Skipped', { text: sentence(w.hidden('input of a skipped tool')) }, sentence(w.hidden('skipped tool')))
    s.tool('mcp__claude-mem__search_memory', { query: 'total' }, sentence(w.hidden('own tool')))
    s.turnEnd(sentence('closing'), [])
  },
  'lists of the user': (s, w) => {
    const hidden = (about: string) => w.new(w.withheld, about)
    const file_path = `${PROJECT}/ledger/march.ts`
    s.prompt(sentence(w.shown('prompt before withheld tools')))
    s.tool('mcp__mail__read', { id: '7' }, { text: sentence(hidden('mail')) })
    s.tool(
      'Edit',
      { file_path, old_string: hidden('old lines'), new_string: hidden('new lines') },
      { filePath: file_path },
    )
    s.tool('Bash', { command: 'grep -n total ledger/march.ts' }, failing(hidden('lines of a withheld file')))
    s.turnEnd(sentence('closing'), [])
  },
  'files with keys': (s, w) => {
    const lines = () => `DATABASE_PASSWORD=${w.hidden('password')}\nSTRIPE_SECRET_KEY=${w.hidden('key')}`
    const file_path = `${PROJECT}/.env`
    const [before, after] = [lines(), lines()]
    const patch = [...before.split('\n').map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)]
    s.prompt(sentence(w.shown('prompt before files with keys')))
    s.tool('Bash', { command: 'cat .env && npm test' }, { stdout: `${lines()}\n1 failed` })
    s.tool('Write', { file_path, content: lines() }, { type: 'create', filePath: file_path, content: before })
    s.tool(
      'Edit',
      { file_path, old_string: before, new_string: after },
      { filePath: file_path, structuredPatch: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: patch }] },
    )
    s.tool('Bash', { command: 'cat ~/.ssh/id_rsa' }, { stdout: privateKey(w.hidden('private key')) })
    s.turnEnd(sentence('closing'), [])
  },
  secrets: (s, w) => {
    const both = () => `aws_access_key_id ${w.awsKey()} and ghp_${w.gitHubToken()}`
    s.prompt(`${sentence(w.shown('prompt with secrets'))} Use ${both()}`)
    s.tool('Bash', { command: `deploy ghp_${w.gitHubToken()}` }, failing(both()))
    s.tool('Edit', { file_path: `${PROJECT}/a.ts`, old_string: 'let a', new_string: `let a = '${w.awsKey()}'` }, {})
    s.turnEnd(`${sentence('closing')} ${both()}`, [`${sentence('words')} ${both()}`])
  },
  'words of a transcript': (s, w) => {
    s.prompt(sentence(w.shown('prompt of a turn with a transcript')))
    const { session, at, promptId } = s.events.at(-1) as MemoryEvent
    const lines = new TranscriptLines({ session, cwd: PROJECT, at: at - 60_000 })
      .prompt('Find out', { promptId })
      .says(sentence('own words'))
      .tool('Bash', { command: `cd ${EXCLUDED}` }, '', { cwd: EXCLUDED })
      .says(sentence(w.hidden('words in an excluded project')), { cwd: EXCLUDED })
      .says(`${sentence('words')} <private>${w.hidden('private part of words')}</private> ghp_${w.gitHubToken()}`)
      .tool('Bash', { command: 'npm test' }, '1 passed')
      .says('Done.')
    writeFileSync(s.transcript, lines.text)
    s.turnEnd(sentence(w.shown('closing of a turn with a transcript')), [], { transcriptPath: s.transcript })
  },
}

function privateKey(word: string): string {
  const lines = Array.from({ length: 6 }, () => `b3BlbnNzaC1rZXk${word}AAAABG5vbmUAAAAE`)
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----'].join('\n')
}

let place: DaemonSandbox
beforeAll(async () => {
  place = new DaemonSandbox()
  await place.start(RULES)
})
afterAll(() => place.dispose())

/**
 * A session is reported by hooks, or by other programs on any door: a hook that did not see a prompt takes the events after
 * a private one for private.
 */
async function send(event: MemoryEvent, isHooked: boolean, random: Random): Promise<string> {
  const payload = isHooked ? hookPayload(event) : null
  if (payload !== null) {
    const { code } = await place.hook(payload, RULES)
    if (code !== 0) throw new Error(`the hook exited with ${code}`)
    return 'hook'
  }
  // The daemon looks into the spool once a second.
  const door = random.chance(0.15) ? 'spool' : random.pick<'REST' | 'WebSocket'>(['REST', 'WebSocket'])
  await eventDoors(place)[door](event)
  return door
}

interface Found {
  passages: string
  index: string
  answers: string
  start: string
  exported: string
}

/** Everything that shows passages, in lower case. */
async function everything(words: Words): Promise<Found> {
  const file = join(place.directory, `export-${Date.now()}.jsonl`)
  const { code, stderr } = await cli('export', file, '--force')
  if (code !== 0) throw new Error(stderr)
  const queries = [...words.secret.keys(), ...words.withheld.keys()]
  const hits = await place.ask(async (client) => {
    const all: unknown[] = []
    for (const query of queries) {
      all.push((await client.call('search', { query, kinds: [...HIT_KINDS], limit: 50 })).answer.hits)
    }
    return all
  })
  const started = await place.ask((client) => client.call('context', { project: `dir:${PROJECT}`, tokens: 2_500 }))
  const db = new Database(place.paths.database, { readonly: true })
  try {
    const found = {
      ...storedPassages(db),
      // Words of the query are marked in each hit.
      answers: JSON.stringify(hits, (key, value) => (key === 'matched' ? undefined : value)),
      start: JSON.stringify(started),
      exported: readFileSync(file, 'utf8'),
    }
    return Object.fromEntries(
      Object.entries(found).map(([name, text]) => [name, text.toLowerCase()]),
    ) as unknown as Found
  } finally {
    db.close()
  }
}

function storedPassages(db: Database.Database): Pick<Found, 'passages' | 'index'> {
  const rows = db.prepare('SELECT subject, text, bytes FROM passages').all() as {
    subject: string | null
    text: Buffer
    bytes: number
  }[]
  const texts = rows.map(
    ({ subject, text, bytes }) => `${subject}\n${text.length < bytes ? inflateRawSync(text) : text}`,
  )
  db.exec("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, passage_fts, 'row')")
  const terms = db.prepare('SELECT term FROM temp.vocabulary').pluck().all()
  return { passages: texts.join('\n'), index: terms.join('\n') }
}

const cli = (...args: string[]) =>
  runProgram(process.execPath, [join(DIST, 'cli.js'), ...args], { env: { ...place.env, ...RULES } })

/** Until no session has work and each passage is in the index. */
async function settle(): Promise<void> {
  await place.ask((client) => client.call('flush', { wait: false }))
  await waitUntil('everything is observed and indexed', async () => {
    const { queue, indexing } = await place.ask(async (client) => ({
      queue: (await client.call('queue_stats', {})).stats,
      indexing: (await client.call('indexing', {})).progress,
    }))
    const db = new Database(place.paths.database, { readonly: true })
    const missing = db.prepare('SELECT count(*) FROM passages WHERE indexed = 0').pluck().get()
    db.close()
    return queue.pending + queue.processing === 0 && indexing === null && missing === 0
  })
}

/** The words that are somewhere where they may not be, each with what it is and where it was found. */
function leaks(
  words: ReadonlyMap<string, string>,
  found: Partial<Found>,
  doors: ReadonlyMap<string, string>,
): string[] {
  return [...words].flatMap(([word, about]) =>
    Object.entries(found).flatMap(([where, text]) =>
      text.includes(word.toLowerCase())
        ? [`${about} (${word}) is in: ${where}; sent by ${doors.get(word) ?? '?'}`]
        : [],
    ),
  )
}

async function expectPrivate(words: Words, doors: ReadonlyMap<string, string>): Promise<void> {
  await settle()
  const found = await everything(words)
  expect(leaks(words.secret, found, doors)).toEqual([])
  expect(leaks(words.withheld, { passages: found.passages, index: found.index }, doors)).toEqual([])
  const lost = [...words.kept].filter(([word]) => !found.passages.includes(word) || !found.index.includes(word))
  expect(lost, 'what may be kept is kept').toEqual([])
}

describe(`passages of what may not be kept (PRIVACY_SEED=${SEED})`, () => {
  test('do not exist, over any door and in any order', async () => {
    const random = new Random(SEED)
    const words = new Words(random)
    const names = Object.keys(STEPS) as [string, ...string[]]
    const scripts = Array.from({ length: SESSIONS }, (_, i) => new Script(`live-${i}`, words, place.directory))
    // Each step at least once, in any session.
    for (const name of random.shuffled(names)) STEPS[name]?.(random.pick(scripts as [Script, ...Script[]]), words)
    for (const script of scripts) {
      for (let i = 0; i < STEPS_PER_SESSION; i++) STEPS[random.pick(names)]?.(script, words)
    }
    const doors = new Map<string, string>()
    const queues = scripts.map(({ events }, i) => ({ events: [...events], isHooked: i < HOOKED_SESSIONS }))
    for (;;) {
      const [next] = random.shuffled(queues.filter(({ events }) => events.length > 0))
      const event = next?.events.shift()
      if (next === undefined || event === undefined) break
      const door = await send(event, next.isHooked, random)
      const text = JSON.stringify(event)
      for (const word of [...words.secret.keys(), ...words.withheld.keys()])
        if (text.includes(word)) doors.set(word, door)
    }
    await expectPrivate(words, doors)
  }, 240_000)

  test('do not exist after a backfill', async () => {
    const random = new Random(SEED + 1)
    const words = new Words(random)
    const file = join(place.directory, 'past.jsonl')
    writeFileSync(file, pastSession('past', words))
    const { code, stderr } = await cli('backfill', '--yes', file)
    expect(code, stderr).toBe(0)
    await expectPrivate(words, new Map())
  }, 120_000)
})

/** Parts of a transcript, in random order. */
function pastSession(session: string, w: Words): string {
  const parts: ((lines: TranscriptLines) => void)[] = [
    (lines) =>
      lines
        .prompt(sentence(w.shown('past prompt')))
        .says(sentence(w.shown('past words')))
        .tool('Bash', { command: 'npm test' }, failing(w.shown('past output')).stdout)
        .says(sentence(w.shown('past closing'))),
    (lines) =>
      lines
        .prompt(`<private>${w.hidden('past private prompt')}</private>`)
        .says(sentence(w.hidden('past private words')))
        .tool('Bash', { command: 'npm test' }, failing(w.hidden('past private output')).stdout)
        .says(sentence(w.hidden('past private closing'))),
    (lines) =>
      lines
        .prompt(`${sentence('parts')} <private>${w.hidden('past private part')}</private> ghp_${w.gitHubToken()}`)
        .says(`${sentence('parts')} <private>${w.hidden('past private part of words')}</private> ${w.awsKey()}`)
        .tool('Bash', { command: 'cat .env' }, `DATABASE_PASSWORD=${w.hidden('past password')}`)
        .tool('Skipped', {}, sentence(w.hidden('past skipped tool')))
        .tool('mcp__claude-mem__search_memory', {}, sentence(w.hidden('past own tool')))
        .tool('mcp__mail__read', {}, sentence(w.new(w.withheld, 'past mail')))
        .says(`${sentence('parts')} <private>${w.hidden('past private part of a closing')}</private>`),
    (lines) =>
      lines
        .prompt(sentence(w.shown('past prompt before a change of directory')))
        .says(sentence(w.shown('past words before it')))
        .tool('Bash', { command: 'npm test' }, failing(w.hidden('past excluded output')).stdout, { cwd: EXCLUDED })
        .says(sentence(w.hidden('past words in an excluded project')), { cwd: EXCLUDED })
        .tool('Bash', { command: 'npm test' }, failing('x').stdout)
        .says(sentence(w.shown('past closing after it'))),
  ]
  const lines = new TranscriptLines({ session, cwd: PROJECT })
  for (const part of w.random.shuffled([...parts, ...parts, ...parts])) part(lines)
  return lines.text
}
