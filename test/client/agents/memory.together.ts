/**
 * Several real clients and one memory: the same scripted task yields the same notes in each, and what one learned in a
 * repository is in the start of the next one's session. Run by `npm run test:clients -- --together`.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../support/directories.ts'
import { git } from '../../support/repository.ts'
import { waitUntil } from '../../support/waiting.ts'
import type { ToolCall, Turn } from '../messages-api.ts'
import { textsIn } from '../scripted-api.ts'
import { countsOf } from '../work.ts'
import { AgentPlace, type TestedAgent } from './agent.ts'
import { claudeCodeAgent } from './claude-code.ts'
import { codexAgent } from './codex.ts'
import { geminiAgent } from './gemini.ts'
import { openCodeAgent } from './opencode.ts'

/** Set by scripts/npm.mjs: the program of each client. */
const PROGRAMS: Record<string, string> = JSON.parse(process.env.CLAUDE_MEM_TEST_PROGRAMS ?? '{}')

interface Tools {
  agent: TestedAgent
  write(file: string, content: string): ToolCall
  /** Replaces a whole line. */
  edit(file: string, from: string, to: string): ToolCall
  read(file: string): ToolCall
  shell(command: string): ToolCall
}

const patch = (...lines: string[]): ToolCall => ({
  name: 'apply_patch',
  input: { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') },
})

const CLIENTS: readonly Tools[] = [
  {
    agent: claudeCodeAgent,
    write: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
    edit: (file_path, old_string, new_string) => ({ name: 'Edit', input: { file_path, old_string, new_string } }),
    read: (file_path) => ({ name: 'Read', input: { file_path } }),
    shell: (command) => ({ name: 'Bash', input: { command, description: 'a step' } }),
  },
  {
    agent: codexAgent,
    write: (file, content) =>
      patch(
        `*** Add File: ${file}`,
        ...content
          .trimEnd()
          .split('\n')
          .map((line) => `+${line}`),
      ),
    edit: (file, from, to) => patch(`*** Update File: ${file}`, '@@', `-${from}`, `+${to}`),
    // It has no tool that reads.
    read: (file) => ({ name: 'exec_command', input: { cmd: `cat ${file}` } }),
    shell: (cmd) => ({ name: 'exec_command', input: { cmd } }),
  },
  {
    agent: geminiAgent,
    write: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
    edit: (file_path, old_string, new_string) => ({
      name: 'replace',
      input: { file_path, old_string, new_string, instruction: 'a step' },
    }),
    read: (file_path) => ({ name: 'read_file', input: { file_path } }),
    shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'a step' } }),
  },
  {
    agent: openCodeAgent,
    write: (filePath, content) => ({ name: 'write', input: { filePath, content } }),
    edit: (filePath, oldString, newString) => ({ name: 'edit', input: { filePath, oldString, newString } }),
    read: (filePath) => ({ name: 'read', input: { filePath } }),
    shell: (command) => ({ name: 'bash', input: { command, description: 'a step' } }),
  },
]

const CHECK = `grep -q 'zephyrQuota = 2' quota.ts || { echo 'Error: quota too low at quota.ts:1' >&2; exit 1; }
echo 'Tests: 3 passed'
`
const AUTHOR = '-c user.name=a -c user.email=a@example.com'
const COMMIT = `git add . && git ${AUTHOR} commit -q -m "Raise zephyrQuota to 2" -m "Needed because the gateway drops idle sockets."`
const CLOSING =
  'Raised zephyrQuota to 2 because the gateway drops idle sockets. Decided to keep retryDelayMs at 250. The check failed at first and passes now.'

function task({ write, edit, read, shell }: Tools, project: string): Turn[] {
  const file = join(project, 'quota.ts')
  return [
    { tools: [write(file, 'export const zephyrQuota = 1\nexport const retryDelayMs = 250\n')] },
    { tools: [write(join(project, 'check.sh'), CHECK)] },
    { tools: [shell('sh check.sh')] },
    { tools: [read(file)] },
    { tools: [edit(file, 'export const zephyrQuota = 1', 'export const zephyrQuota = 2')] },
    { tools: [shell('sh check.sh')] },
    { tools: [shell(COMMIT)] },
    { text: CLOSING },
  ]
}

/** What a reader of the notes should learn. */
const FACTS: Record<string, RegExp> = {
  'the changed file': /quota\.ts/,
  'the old and the new value': /zephyrQuota[^\n]{0,40}1\b[^\n]{0,20}2\b/,
  'the failed check': /quota too low/,
  'the command that failed': /sh check\.sh/,
  'that it passes now': /(?:pass|fixed|succe)/i,
  'the commit': /Raise zephyrQuota to 2/,
  'its reason': /gateway drops idle sockets/,
  'the decision': /keep retryDelayMs at 250/,
  'the closing words': /Raised zephyrQuota to 2/,
  'what the user asked': /legacy endpoint/,
}
const PROMPT = '[[script:task]] Raise the zephyr quota until the check passes. Never use the legacy endpoint for it.'

/** A home in which the client is installed, with a repository. */
async function installed(tools: Tools, home?: string): Promise<AgentPlace> {
  const { agent } = tools
  const program = PROGRAMS[agent.name]
  if (program === undefined)
    throw new Error('these tests need several real clients: npm run test:clients -- --together')
  const place = await AgentPlace.make(agent, { program, ...(home === undefined ? {} : { home }) })
  if (home === undefined) git(place.project, 'init', '--quiet')
  await place.memOk('install', '--client', agent.name, '--yes', ...agent.installArgs)
  return place
}

async function done(place: AgentPlace, session: string): Promise<void> {
  await waitUntil('the end of the turn is stored', async () => {
    return countsOf(await place.events(session).catch(() => [])).turnEnds > 0
  })
  await place.settled()
}

const places: AgentPlace[] = []
afterAll(() => Promise.all(places.map((place) => place.dispose())))

describe('the same work', () => {
  const recovered = new Map<string, string[]>()

  it.each(CLIENTS)('is noted from $agent.name', async (tools) => {
    const place = await installed(tools)
    places.push(place)
    place.api.play({ task: task(tools, place.project) })
    const session = await place.run(PROMPT)
    await done(place, session)
    await place.kept('zephyrQuota')
    const records = ['observation', 'summary', 'prompt'].map((kind) => place.memOk('export', '--kind', kind))
    const notes = (await Promise.all(records)).join('\n')
    const facts = Object.entries(FACTS).flatMap(([fact, pattern]) => (pattern.test(notes) ? [fact] : []))
    recovered.set(tools.agent.name, facts)
    expect(facts.length).toBeGreaterThan(0)
  })

  it('gives the same facts, but for one in ten', () => {
    const names = [...recovered.keys()]
    const row = (fact: string) => names.map((name) => (recovered.get(name)?.includes(fact) ? 'yes' : '-')).join('\t')
    console.log(['', ...names].join('\t'))
    for (const fact of Object.keys(FACTS)) console.log(`${row(fact)}\t${fact}`)
    const counts = names.map((name) => recovered.get(name)?.length ?? 0)
    console.log(`facts of ${Object.keys(FACTS).length}: ${names.map((name, n) => `${name} ${counts[n]}`).join(', ')}`)
    expect(names).toHaveLength(CLIENTS.length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(Object.keys(FACTS).length / 10)
  })
})

describe('one repository', () => {
  /** Claude Code is the last: what the others learned has to be in its start. */
  const [claudeCode, ...others] = CLIENTS
  const inTurn = claudeCode === undefined ? others : [...others, claudeCode]
  const home = temporaryDirectory('together')
  const shared = new Map<string, AgentPlace>()
  const words = new Map(inTurn.map(({ agent }, n) => [agent.name, `borealis${['Alpha', 'Beta', 'Gamma', 'Delta'][n]}`]))

  beforeAll(async () => {
    for (const tools of inTurn) {
      const place = await installed(tools, home)
      shared.set(tools.agent.name, place)
      places.push(place)
    }
    const [first] = shared.values()
    if (first !== undefined) git(first.project, 'init', '--quiet')
  })

  it.each(inTurn)('what $agent.name learned is in the start of the next client', async (tools) => {
    const place = shared.get(tools.agent.name)
    const word = words.get(tools.agent.name) ?? ''
    if (place === undefined) throw new Error('no place')
    const file = join(place.project, `${word}.ts`)
    place.api.play({
      [word]: [
        { tools: [tools.write(file, `export const ${word} = 1\n`)] },
        { text: `Set ${word} to 1 because the gateway drops idle sockets.` },
      ],
    })
    const session = await place.run(`[[script:${word}]] limit it`)
    await done(place, session)
    await place.kept(word)
    const before = [...words].slice(0, [...words.keys()].indexOf(tools.agent.name)).map(([, name]) => name)
    const told = textsIn(place.api.firstRequest(word).body).join('\n')
    expect(before.filter((name) => !told.includes(name))).toEqual([])
    const { sessions } = await place.ask((client) => client.call('sessions', {}))
    expect(sessions.find((one) => one.session === session)).toMatchObject({ client: tools.agent.name })
  })
})
