/**
 * A year of generated transcripts under a configuration directory of Claude Code: sessions of tool uses in six projects,
 * as Claude Code 2.1 writes them (one content block per line; the lines of one API message share its id, request and
 * usage). Ids and times come from a seed, so that two runs give the same bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shortHash } from '../../src/lib/paths.ts'
import { Random } from '../lib/random.ts'
import { CAUSES, functionOf, PROJECTS, type Subject, sourceOf, subjectOf, testRun, type YearProject } from './code.ts'

type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined }
type Fields = { [key: string]: Json | undefined }

const CLIENT_VERSION = '2.1.197'
const CHARS_PER_TOKEN = 4
const ID_CHARACTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789'

class TranscriptWriter {
  readonly session: string
  readonly random: Random
  readonly #cwd: string
  readonly #lines: Fields[] = []
  #now: number
  #promptId: string
  #parent: string | null = null
  #lastAssistant: string | null = null
  /** The API message that is being written; null after a line of the user. */
  #message: { id: string; request: string; usage: Fields } | null = null
  /** Characters since the last request, and all before it: the usage is estimated from them. */
  #freshChars = 0
  #cachedChars = 48_000

  constructor(name: string, cwd: string, startedAt: number) {
    this.#cwd = cwd
    this.random = new Random(Number.parseInt(shortHash(name).slice(0, 8), 16))
    this.session = this.uuid()
    this.#promptId = this.uuid()
    this.#now = startedAt
  }

  text(): string {
    return this.#lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }

  uuid(): string {
    const hex = (length: number) => Array.from({ length }, () => this.random.between(0, 15).toString(16)).join('')
    return `${hex(8)}-${hex(4)}-4${hex(3)}-${this.random.pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`
  }

  /** An id in Anthropic's format: a prefix, `01`, 22 letters and digits. */
  id(prefix: string): string {
    const characters = Array.from({ length: 22 }, () => ID_CHARACTERS[this.random.between(0, ID_CHARACTERS.length - 1)])
    return `${prefix}_01${characters.join('')}`
  }

  wait(leastMs: number, mostMs: number): void {
    this.#now += this.random.between(leastMs, mostMs)
  }

  prompt(text: string): void {
    this.#promptId = this.uuid()
    this.wait(15_000, 240_000)
    this.user(text)
  }

  user(content: Json, fields: Fields = {}): void {
    this.#message = null
    this.#freshChars += JSON.stringify(content).length
    this.#push('user', { promptId: this.#promptId }, { message: { role: 'user', content }, ...fields })
  }

  toolResult(id: string, content: Json, toolUseResult: Json, isError: boolean): void {
    const block = isError
      ? { type: 'tool_result', content, is_error: true, tool_use_id: id }
      : { tool_use_id: id, type: 'tool_result', content }
    this.user([block], { toolUseResult, sourceToolAssistantUUID: this.#lastAssistant ?? undefined })
  }

  assistant(block: Fields, stopReason: 'tool_use' | 'end_turn'): void {
    if (this.#message === null) {
      this.wait(1_800, 9_000)
      const usage = this.#usage(JSON.stringify(block).length)
      this.#message = { id: this.id('msg'), request: this.id('req'), usage }
    } else this.wait(300, 1_500)
    const { id, request, usage } = this.#message
    const message = { model: 'claude-opus-5-5', id, type: 'message', role: 'assistant', content: [block] }
    const ending = { stop_reason: stopReason, stop_sequence: null, usage }
    this.#push('assistant', {}, { message: { ...message, ...ending }, requestId: request })
    this.#lastAssistant = this.#parent
  }

  #usage(writtenChars: number): Fields {
    const fresh = Math.ceil(this.#freshChars / CHARS_PER_TOKEN)
    const read = Math.ceil(this.#cachedChars / CHARS_PER_TOKEN)
    this.#cachedChars += this.#freshChars
    this.#freshChars = 0
    return {
      input_tokens: this.random.between(2, 9),
      cache_creation_input_tokens: fresh,
      cache_read_input_tokens: read,
      cache_creation: { ephemeral_5m_input_tokens: fresh, ephemeral_1h_input_tokens: 0 },
      output_tokens: Math.ceil(writtenChars / CHARS_PER_TOKEN) + this.random.between(8, 60),
      service_tier: 'standard',
    }
  }

  #push(type: string, ids: Fields, fields: Fields): void {
    const uuid = this.uuid()
    this.#lines.push({
      parentUuid: this.#parent,
      isSidechain: false,
      ...ids,
      userType: 'external',
      cwd: this.#cwd,
      sessionId: this.session,
      version: CLIENT_VERSION,
      gitBranch: 'main',
      type,
      ...fields,
      uuid,
      timestamp: new Date(this.#now).toISOString(),
    })
    this.#parent = uuid
  }
}

interface YearSession {
  session: string
  text: string
  toolUses: number
}

interface SessionPlan {
  name: string
  project: YearProject
  cwd: string
  /** Epoch ms. */
  at: number
  toolUses: number
}

/** Tool uses of one turn. */
const LEAST_IN_TURN = 4
const MOST_IN_TURN = 18

function generateSession(plan: SessionPlan): YearSession {
  const generator = new SessionGenerator(plan)
  while (generator.toolUses < plan.toolUses) generator.turn(plan.toolUses)
  const { writer, toolUses } = generator
  return { session: writer.session, text: writer.text(), toolUses }
}

class SessionGenerator {
  readonly writer: TranscriptWriter
  readonly #plan: SessionPlan
  toolUses = 0

  constructor(plan: SessionPlan) {
    this.#plan = plan
    this.writer = new TranscriptWriter(plan.name, plan.cwd, plan.at)
  }

  turn(most: number): void {
    const { writer } = this
    const { random } = writer
    const subject = subjectOf(this.#plan.project, random)
    const cause = random.pick(CAUSES)
    writer.prompt(`${subject.name} keeps ${subject.quality} ${subject.noun}s, please find out why and fix it`)
    const until = Math.min(most, this.toolUses + random.between(LEAST_IN_TURN, MOST_IN_TURN))
    this.#grep(subject)
    const source = this.#read(subject)
    while (this.toolUses < until - 2) this.#step(subject, source)
    if (this.toolUses < until) this.#test(subject, false)
    if (this.toolUses < until) this.#commit(subject)
    if (random.chance(0.06)) writer.user([{ type: 'text', text: '[Request interrupted by user]' }])
    else {
      const message = `${subject.name} kept ${subject.quality} ${subject.noun}s because ${cause}. It drops them now, and a test checks that.`
      writer.assistant({ type: 'text', text: message }, 'end_turn')
    }
  }

  #step(subject: Subject, source: string): void {
    const { random } = this.writer
    const dice = random.next()
    if (dice < 0.3) this.#edit(subject, source)
    else if (dice < 0.5) this.#read(subjectOf(this.#plan.project, random))
    else if (dice < 0.65) this.#test(subject, random.chance(0.5))
    else if (dice < 0.75) this.#bash('git status --short', ` M ${subject.file}\n`)
    else if (dice < 0.85)
      this.#bash('git diff --stat', ` ${subject.file} | ${random.between(2, 40)} ++--\n 1 file changed\n`)
    else if (dice < 0.95) this.#grep(subjectOf(this.#plan.project, random))
    else this.#write(subjectOf(this.#plan.project, random))
  }

  #read(subject: Subject): string {
    const content = sourceOf(this.#plan.project, subject, this.writer.random)
    const lines = content.split('\n')
    const numbered = lines.map((line, index) => `${String(index + 1).padStart(6)}→${line}`).join('\n')
    const filePath = this.#path(subject)
    const file = { filePath, content, numLines: lines.length, startLine: 1, totalLines: lines.length }
    this.#done('Read', { file_path: filePath }, numbered, { type: 'text', file })
    return content
  }

  #edit(subject: Subject, source: string): void {
    const { random } = this.writer
    const filePath = this.#path(subject)
    const before = functionOf(this.#plan.project, subject, random.between(10, 900))
    const after = functionOf(
      this.#plan.project,
      { ...subject, quality: `Known${subject.quality}` },
      random.between(10, 900),
    )
    const input = { file_path: filePath, old_string: before, new_string: after, replace_all: false }
    if (random.chance(0.05)) {
      this.#failed(
        'Edit',
        input,
        `<tool_use_error>String to replace not found in file.\nString: ${before}</tool_use_error>`,
      )
      return
    }
    const lines = [...before.split('\n').map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)]
    const hunk = {
      oldStart: 1,
      oldLines: before.split('\n').length,
      newStart: 1,
      newLines: after.split('\n').length,
      lines,
    }
    this.#done('Edit', input, `The file ${filePath} has been updated successfully.`, {
      filePath,
      oldString: before,
      newString: after,
      originalFile: source,
      structuredPatch: [hunk],
      userModified: false,
      replaceAll: false,
    })
  }

  #write(subject: Subject): void {
    const filePath = this.#path(subject)
    const content = sourceOf(this.#plan.project, subject, this.writer.random)
    this.#done('Write', { file_path: filePath, content }, `File created successfully at: ${filePath}`, {
      type: 'create',
      filePath,
      content,
      structuredPatch: [],
      originalFile: null,
      userModified: false,
    })
  }

  #grep({ name, file }: Subject): void {
    this.#done('Grep', { pattern: name, output_mode: 'files_with_matches' }, `Found 1 file\n${file}`, {
      mode: 'files_with_matches',
      filenames: [file],
      numFiles: 1,
    })
  }

  #test(subject: Subject, failing: boolean): void {
    const { command, output } = testRun(this.#plan.project, subject, failing, this.writer.random)
    if (failing) this.#failed('Bash', { command, description: 'Run the tests' }, `Exit code 1\n${output}`)
    else this.#bash(command, output)
  }

  #commit({ name, quality, noun, file }: Subject): void {
    const message = `${name} drops ${quality} ${noun}s`
    const hash = this.writer.uuid().slice(0, 7)
    this.#bash(
      `git commit -am "${message}"`,
      `[main ${hash}] ${message}\n 1 file changed, 4 insertions(+), 2 deletions(-) ${file}\n`,
    )
  }

  #bash(command: string, stdout: string): void {
    this.#done('Bash', { command }, stdout, { stdout, stderr: '', interrupted: false, isImage: false })
  }

  #done(tool: string, input: Fields, content: string, result: Fields): void {
    const id = this.#call(tool, input)
    this.writer.wait(50, 9_000)
    this.writer.toolResult(id, content, result, false)
  }

  #failed(tool: string, input: Fields, error: string): void {
    const id = this.#call(tool, input)
    this.writer.wait(50, 9_000)
    this.writer.toolResult(id, error, `Error: ${error}`, true)
  }

  #call(tool: string, input: Fields): string {
    const id = this.writer.id('toolu')
    this.writer.assistant({ type: 'tool_use', id, name: tool, input }, 'tool_use')
    this.toolUses += 1
    return id
  }

  #path({ file }: Subject): string {
    return `${this.#plan.cwd}/${file}`
  }
}

const DAY_MS = 86_400_000
const YEAR_DAYS = 365
/** The newest session has ended: backfill skips one that is still being written. In ms. */
const NEWEST_AGO_MS = 3 * 3_600_000

export interface WrittenYear {
  configDir: string
  sessions: number
  toolUses: number
  bytes: number
}

/** `at`: the end of the year, epoch ms. */
export function writeYear(
  root: string,
  options: { sessions: number; toolUses: number; seed: number; at: number },
  progress: (text: string) => void,
): WrittenYear {
  const { sessions, toolUses, seed, at } = options
  const random = new Random(seed)
  const configDir = join(root, 'claude')
  const written: WrittenYear = { configDir, sessions: 0, toolUses: 0, bytes: 0 }
  for (const { name } of PROJECTS) repository(join(root, 'work', name))
  for (let n = 0; n < sessions; n++) {
    progress(`writing transcript ${n + 1} of ${sessions}`)
    const project = random.pick(PROJECTS)
    const cwd = join(root, 'work', project.name)
    const share = (toolUses - written.toolUses) / (sessions - n)
    const ago = NEWEST_AGO_MS + (YEAR_DAYS * DAY_MS * (sessions - n - 1)) / sessions
    const wanted = Math.max(1, Math.round(share * (n === sessions - 1 ? 1 : 0.4 + 1.2 * random.next())))
    const made = generateSession({ name: `${seed}-${n}`, project, cwd, at: at - ago - 2 * 3_600_000, toolUses: wanted })
    const directory = join(configDir, 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'))
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `${made.session}.jsonl`), made.text)
    written.sessions += 1
    written.toolUses += made.toolUses
    written.bytes += Buffer.byteLength(made.text)
  }
  return written
}

/** The minimum that project detection accepts as a repository. */
function repository(directory: string): void {
  mkdirSync(join(directory, '.git'), { recursive: true })
  writeFileSync(join(directory, '.git', 'HEAD'), 'ref: refs/heads/main\n')
}
