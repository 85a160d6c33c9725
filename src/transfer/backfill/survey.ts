/**
 * Lists the sessions in transcripts: where, when and how much, without making their events. Reads each file once, with
 * bounded memory; sends nothing.
 */

import { basename } from 'node:path'
import { isCountedId, transcriptEndId } from '../../domain/event.ts'
import { MAX_ID_CHARS } from '../../domain/event-names.ts'
import { repositoryKeyOf } from '../../domain/repository.ts'
import type { TranscriptEntry } from '../../domain/transcript-entry.ts'
import type { Settings } from '../../settings/settings.ts'
import { dropOldest, entryLineId, MAX_OPEN_CALLS } from '../transcripts/index.ts'
import { type FoundTranscripts, type TranscriptProblem, unreadableReason } from '../transcripts/reader.ts'
import { transcriptReader } from '../transcripts/readers.ts'
import { type FiledSession, fileSessions, type SessionPlaces } from './filing.ts'

interface TalliedSession extends SessionPlaces {
  session: string
  /** Whose transcript it is, as in `--client`. */
  client: string
  file: string
  /** Epoch ms of its first and last line. */
  from: number
  to: number
  prompts: number
  /** Tool uses that a hook would have reported. */
  toolUses: number
  /** Identifies copies: a session that was resumed under another id begins with a copy of the first one. */
  firstToolUse: string | null
  /** Id of its last event. */
  end: string
}

export type SurveyedSession = TalliedSession & FiledSession

/** A file with nothing but the work of a subagent. Its session has the task and the result. */
export interface SubagentThread {
  file: string
  /** That of the agent that started it. */
  session: string
}

export interface TranscriptSurvey {
  sessions: SurveyedSession[]
  threads: SubagentThread[]
  problems: TranscriptProblem[]
  /** Lines that were skipped: not JSON, truncated, or too long. */
  badLines: number
}

interface SurveyOptions {
  settings: Pick<Settings, 'CLAUDE_MEM_SKIP_TOOLS' | 'CLAUDE_MEM_EXCLUDED_PROJECTS'>
  /** Epoch ms: files and sessions that ended before are left out. Null: all. */
  since: number | null
  /** The user named the files: a file without a session is then reported. */
  named: boolean
  /** Keys of projects and directories that the memory knows. */
  known?: readonly string[]
  progress?: (progress: SurveyProgress) => void
}

export interface SurveyProgress {
  files: number
  ofFiles: number
  bytes: number
  ofBytes: number
}

export async function surveyTranscripts(found: FoundTranscripts, options: SurveyOptions): Promise<TranscriptSurvey> {
  const { settings, since, named, known = [], progress } = options
  const files = found.files.filter(({ changedAt }) => since === null || changedAt >= since)
  const tallied: TalliedSession[] = []
  const result: TranscriptSurvey = { sessions: [], threads: [], problems: [...found.problems], badLines: 0 }
  const ofBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const done: SurveyProgress = { files: 0, ofFiles: files.length, bytes: 0, ofBytes }
  for (const { client, file, bytes } of files) {
    const before = done.bytes
    try {
      const { sessions, threads, lines, badLines } = await scanTranscript(client, file, settings, (chars) => {
        done.bytes = Math.min(before + bytes, done.bytes + chars)
        progress?.(done)
      })
      result.badLines += badLines
      const reason = noSessionReason(sessions.length + threads.length, lines, badLines, named)
      if (reason !== null) result.problems.push({ file, reason })
      tallied.push(...sessions.filter(({ to }) => since === null || to >= since))
      result.threads.push(...threads)
    } catch (error) {
      result.problems.push({ file, reason: unreadableReason(error) })
    }
    done.files += 1
    done.bytes = before + bytes
    progress?.(done)
  }
  const filed = fileSessions(tallied, { known, excluded: settings.CLAUDE_MEM_EXCLUDED_PROJECTS })
  result.sessions = filed.flatMap((places, i) => (tallied[i] === undefined ? [] : { ...tallied[i], ...places }))
  return result
}

function noSessionReason(sessions: number, lines: number, badLines: number, named: boolean): string | null {
  if (sessions > 0) return null
  if (lines > 0 && badLines === lines) return 'it is not a transcript: no line is JSON'
  // The client writes files that contain only a title.
  return named ? 'it contains no session that this version can read' : null
}

/** A client writes one session per file, or two after a resume; no client's file has more than this. */
const MAX_SESSIONS = 1_000

/** Directories of a session that are counted; no session moves to more. */
const MAX_DIRECTORIES = 256

/** Throws file system errors. `onRead` is called with the number of characters of each line. */
async function scanTranscript(
  client: string,
  file: string,
  settings: SurveyOptions['settings'],
  onRead: (chars: number) => void,
): Promise<{ sessions: TalliedSession[]; threads: SubagentThread[]; lines: number; badLines: number }> {
  const tallies = new Map<string, SessionTally>()
  let lines = 0
  let badLines = 0
  let session = basename(file, '.jsonl')
  const entries = transcriptReader(client).entries(file, ({ text }, problem) => {
    onRead((text?.length ?? 0) + 1)
    if (text?.trim() !== '') lines += 1
    if (problem !== null) badLines += 1
  })
  for await (const entry of entries) {
    session = entry.session ?? session
    if (session.length > MAX_ID_CHARS || (!tallies.has(session) && tallies.size >= MAX_SESSIONS)) continue
    const tally = tallies.get(session) ?? new SessionTally(session, client, file, settings)
    tallies.set(session, tally)
    tally.add(entry)
  }
  const all = [...tallies.values()]
  return {
    sessions: all.flatMap((tally) => tally.result() ?? []),
    threads: all.flatMap(({ startedBy }) => (startedBy === null ? [] : { file, session: startedBy })),
    lines,
    badLines,
  }
}

class SessionTally {
  readonly #session: string
  readonly #client: string
  readonly #file: string
  readonly #settings: SurveyOptions['settings']
  readonly #open = new Map<string, string>()
  readonly #directories = new Map<string, number>()
  #repository: SessionPlaces['repository'] = null
  #subagentOf: string | null = null
  #isMain = false
  #from: number | null = null
  #to = 0
  #cwd: string | null = null
  #prompts = 0
  #toolUses = 0
  #first: string | null = null
  #lastLine: string | number = 'unknown'

  constructor(session: string, client: string, file: string, settings: SurveyOptions['settings']) {
    this.#session = session
    this.#client = client
    this.#file = file
    this.#settings = settings
  }

  add(entry: TranscriptEntry): void {
    if (entry.at !== null) {
      this.#from ??= entry.at
      this.#to = Math.max(this.#to, entry.at)
    }
    if (entry.kind === 'session_meta') {
      const key = entry.remote === null ? null : repositoryKeyOf(entry.remote)
      this.#repository = key === null || entry.cwd === null ? null : { key, directory: entry.cwd }
      this.#subagentOf = entry.subagentOf
    } else if (!entry.sidechain) {
      this.#isMain = true
      this.#addDirectory(entry.cwd)
      this.#lastLine = entryLineId(entry)
      if (entry.kind === 'prompt') this.#prompts += 1
    }
    if (entry.kind === 'assistant') for (const { id, tool } of entry.calls) if (id !== null) this.#call(id, tool)
    if (entry.kind === 'results') for (const { id } of entry.results) this.#result(id)
  }

  #addDirectory(cwd: string | null): void {
    this.#cwd = cwd ?? this.#cwd
    if (this.#cwd === null) return
    const entries = this.#directories.get(this.#cwd)
    if (entries === undefined && this.#directories.size >= MAX_DIRECTORIES) return
    this.#directories.set(this.#cwd, (entries ?? 0) + 1)
  }

  #call(id: string, tool: string): void {
    this.#open.set(id, tool)
    dropOldest(this.#open, MAX_OPEN_CALLS)
  }

  #result(id: string): void {
    const tool = this.#open.get(id)
    if (tool === undefined) return
    this.#open.delete(id)
    if (!isCountedId(id)) this.#first ??= id
    if (!this.#settings.CLAUDE_MEM_SKIP_TOOLS.includes(tool)) this.#toolUses += 1
  }

  /** The session that started the subagent whose thread this is; null if it is a session of the user. */
  get startedBy(): string | null {
    return this.#subagentOf ?? (this.#isMain ? null : this.#session)
  }

  /** Null for the thread of a subagent, and for a session without any timestamp. */
  result(): TalliedSession | null {
    if (this.#from === null || this.startedBy !== null) return null
    return {
      session: this.#session,
      client: this.#client,
      file: this.#file,
      directories: this.#directories,
      repository: this.#repository,
      from: this.#from,
      to: this.#to,
      prompts: this.#prompts,
      toolUses: this.#toolUses,
      firstToolUse: this.#first,
      end: transcriptEndId(this.#session, this.#lastLine),
    }
  }
}
