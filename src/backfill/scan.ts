/** What a transcript holds, without making its events: who, where, when and how much. One pass, bounded memory. */
import { isExcluded } from '../hook/excluded.ts'
import { type Entry, entryOf } from '../hook/transcript/entry.ts'
import { agentFiles } from '../hook/transcript/index.ts'
import { chunksOf, linesOf, type TranscriptLine } from '../hook/transcript/lines.ts'
import { lineOf } from '../hook/transcript/session.ts'
import { type Project, projectOf } from '../memory/project.ts'
import { endId } from '../memory/transcript-ids.ts'
import type { Settings } from '../settings.ts'

export interface ScannedSession {
  session: string
  project: Project
  cwd: string
  excluded: boolean
  /** Epoch ms of its first and last line. */
  from: number
  to: number
  prompts: number
  /** Tool uses that a hook would have reported. */
  toolUses: number
  /** A session that was resumed under another id begins with a copy of the first one. */
  firstToolUse: string | null
  /** Id of the event with which it ends. */
  end: string
}

export interface Scan {
  sessions: ScannedSession[]
  lines: number
  /** Not JSON, cut off, or too long. */
  badLines: number
}

export type ScanSettings = Pick<Settings, 'CLAUDE_MEM_SKIP_TOOLS' | 'CLAUDE_MEM_EXCLUDED_PROJECTS'>

/** A client writes one, or two where it was resumed; a file with more than this is not a client's. */
const MAX_SESSIONS = 1_000
/** The door takes no longer ids. */
const MAX_ID_CHARS = 200

/** Throws what the file system says. `read`: bytes so far, roughly. */
export async function scanTranscript(
  file: string,
  name: string,
  settings: ScanSettings,
  read: (chars: number) => void = () => undefined,
): Promise<Scan> {
  const sessions = new Map<string, Tally>()
  const scan: Scan = { sessions: [], lines: 0, badLines: 0 }
  let last = name
  const entryIn = (line: TranscriptLine): Entry | null => {
    read((line.text?.length ?? 0) + 1)
    if (line.text?.trim() === '') return null
    scan.lines += 1
    const entry = line.text === null ? undefined : entryOf(line.text)
    if (entry === undefined) scan.badLines += 1
    return entry ?? null
  }
  for await (const line of linesOf(chunksOf(file))) {
    const entry = entryIn(line)
    if (entry === null) continue
    last = entry.session ?? last
    if (last.length > MAX_ID_CHARS) continue
    const tally = sessions.get(last) ?? new Tally(last, settings)
    if (!sessions.has(last) && sessions.size >= MAX_SESSIONS) continue
    sessions.set(last, tally)
    for (const beside of agentFiles(file, entry)) {
      for await (const inner of linesOf(chunksOf(beside))) {
        const own = entryIn(inner)
        if (own !== null) tally.take({ ...own, sidechain: true })
      }
    }
    tally.take(entry)
  }
  scan.sessions = [...sessions.values()].flatMap((tally) => tally.result() ?? [])
  return scan
}

/** Calls that wait for their result. A client runs a few at a time. */
const MAX_OPEN = 256

class Tally {
  readonly #session: string
  readonly #settings: ScanSettings
  readonly #open = new Map<string, string>()
  #from: number | null = null
  #to = 0
  #cwd: string | null = null
  #prompts = 0
  #toolUses = 0
  #first: string | null = null
  #lastLine: string | number = 'unknown'

  constructor(session: string, settings: ScanSettings) {
    this.#session = session
    this.#settings = settings
  }

  take(entry: Entry): void {
    if (entry.at !== null) {
      this.#from ??= entry.at
      this.#to = Math.max(this.#to, entry.at)
    }
    if (!entry.sidechain) {
      this.#cwd = entry.cwd ?? this.#cwd
      this.#lastLine = lineOf(entry)
      if (entry.kind === 'prompt') this.#prompts += 1
    }
    if (entry.kind === 'assistant') for (const { id, tool } of entry.calls) if (id !== null) this.#call(id, tool)
    if (entry.kind === 'results') for (const { id } of entry.results) this.#result(id)
  }

  #call(id: string, tool: string): void {
    this.#open.set(id, tool)
    if (this.#open.size <= MAX_OPEN) return
    for (const oldest of this.#open.keys()) {
      this.#open.delete(oldest)
      return
    }
  }

  #result(id: string): void {
    const tool = this.#open.get(id)
    if (tool === undefined) return
    this.#open.delete(id)
    this.#first ??= id
    if (!this.#settings.CLAUDE_MEM_SKIP_TOOLS.includes(tool)) this.#toolUses += 1
  }

  /** Null for a session without a moment: nothing of it could be told from now. */
  result(): ScannedSession | null {
    if (this.#from === null) return null
    const cwd = this.#cwd ?? '/'
    const project = projectOf(cwd)
    return {
      session: this.#session,
      project,
      cwd,
      excluded: isExcluded(cwd, project, this.#settings.CLAUDE_MEM_EXCLUDED_PROJECTS),
      from: this.#from,
      to: this.#to,
      prompts: this.#prompts,
      toolUses: this.#toolUses,
      firstToolUse: this.#first,
      end: endId(this.#session, this.#lastLine),
    }
  }
}
