/**
 * Reads the auto-memory of Claude Code (`<config>/projects/<directory>/memory/*.md`) as import records: each note, or each
 * section of a long one, is an observation with its file as origin. The files are only read. A note that did not change
 * is recognised by its content, so a second import adds nothing.
 */
import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { exportRecordSchema, firstIssue } from '../../api/record-schemas.ts'
import { MAX_RECORD_TEXT_CHARS } from '../../domain/clean-record.ts'
import type { ObservationType } from '../../domain/observation.ts'
import { importedProjectKey, type Project, projectOfDirectory } from '../../domain/project.ts'
import { cutText } from '../../domain/sanitize.ts'
import { errorMessage } from '../../lib/errors.ts'
import { readFileChunks, readRegularFileSync } from '../../lib/files.ts'
import { shortHash } from '../../lib/paths.ts'
import type { ObservationRecord, SessionRecord } from '../../store/exchange-records.ts'
import { readLines } from '../transcripts/lines.ts'
import { directoriesIn, type FoundTranscripts, namesIn } from '../transcripts/reader.ts'
import type { ImportItem, ImportSource } from './import.ts'

/** The client of the sessions that these notes are in. */
const CLIENT = 'claude-code'

/** `configDir`: `~/.claude`, or CLAUDE_CONFIG_DIR. Null: there are no notes. */
export function autoMemorySource(configDir: string): ImportSource | null {
  const found: FoundTranscripts = { files: [], problems: [] }
  const files = directoriesIn(join(configDir, 'projects'), found).flatMap((directory) => {
    const memory = join(directory, 'memory')
    return namesIn(memory, found)
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ directory, file: join(memory, name) }))
  })
  if (files.length + found.problems.length === 0) return null
  return {
    what: 'auto-memory',
    total: files.length,
    items: () => readNotes(files, found.problems),
    close: () => undefined,
  }
}

interface NoteFile {
  directory: string
  file: string
}

async function* readNotes(
  files: readonly NoteFile[],
  problems: FoundTranscripts['problems'],
): AsyncGenerator<ImportItem> {
  for (const { file, reason } of problems) yield { at: file, done: 0, problem: reason }
  const projects = new Map<string, NoteProject>()
  let id = 0
  for (const [index, { directory, file }] of files.entries()) {
    const done = index + 1
    const known = projects.get(directory)
    const place = known ?? (await projectOfNotes(directory))
    projects.set(directory, place)
    if (known === undefined) yield { at: '', done, record: { kind: 'project', ...place.project } }
    let notes: Note[]
    let changedAt: number
    try {
      changedAt = Math.floor(statSync(file).mtimeMs)
      notes = readNote(readRegularFileSync(file).toString('utf8'), basename(file, '.md'))
    } catch (error) {
      yield { at: file, done, problem: `it cannot be read: ${errorMessage(error)}` }
      continue
    }
    if (notes.length === 0) continue
    const session = sessionOf(file, place, changedAt)
    yield { at: '', done, record: session }
    for (const note of notes) {
      id += 1
      const checked = exportRecordSchema.safeParse(observationOf(note, { id, file, session, changedAt }))
      yield checked.success
        ? { at: file, done, record: checked.data }
        : { at: file, done, problem: firstIssue(checked.error) }
    }
  }
}

interface NoteProject {
  project: Project
  cwd: string
}

/** The name of the directory is the path with every separator replaced; the transcripts in it have the path itself. */
async function projectOfNotes(directory: string): Promise<NoteProject> {
  const cwd = (await directoryInTranscripts(directory)) ?? existingPath(basename(directory))
  if (cwd !== null) return { project: projectOfDirectory(cwd), cwd }
  const name = basename(directory).split('-').at(-1) || basename(directory)
  return { project: { key: importedProjectKey(name), name }, cwd: '' }
}

/** Lines of a transcript that are searched for its directory: it is in the first message. */
const SEARCHED_LINES = 50

async function directoryInTranscripts(directory: string): Promise<string | null> {
  const found: FoundTranscripts = { files: [], problems: [] }
  for (const name of namesIn(directory, found).filter((one) => one.endsWith('.jsonl'))) {
    try {
      for await (const { number, text } of readLines(readFileChunks(join(directory, name)))) {
        const [, json] = /"cwd":("(?:[^"\\]|\\.)*")/.exec(text ?? '') ?? []
        if (json !== undefined) return String(JSON.parse(json))
        if (number >= SEARCHED_LINES) break
      }
    } catch {
      // Another transcript may say it.
    }
  }
  return null
}

/** `-home-me-shop` is `/home/me/shop` if there is such a directory. */
function existingPath(name: string): string | null {
  const path = name.replaceAll('-', '/')
  return path.startsWith('/') && existsSync(path) ? path : null
}

function sessionOf(file: string, { project, cwd }: NoteProject, changedAt: number): SessionRecord {
  const id = `auto-memory:${shortHash(file)}`
  return {
    kind: 'session',
    id,
    project: project.key,
    client: CLIENT,
    cwd,
    prompts: 0,
    startedAt: changedAt,
    heardAt: changedAt,
  }
}

interface Note {
  title: string
  subtitle: string | null
  text: string
  type: ObservationType
}

/** A longer note is read by its sections. */
const WHOLE_NOTE_CHARS = 2_000
const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/

/** The kinds of notes that the client writes, and what they are here. */
const NOTE_TYPES: Readonly<Record<string, ObservationType>> = { feedback: 'decision', user: 'decision' }

/** `name`: of the file, for a note without a title. */
export function readNote(content: string, name: string): Note[] {
  const text = content.replace(/^\uFEFF/, '')
  const head = FRONT_MATTER.exec(text)
  const field = (key: string) =>
    new RegExp(`^[ \\t]*${key}:[ \\t]*(.+)$`, 'm').exec(head?.[1] ?? '')?.[1]?.trim() ?? null
  const body = text.slice(head?.[0].length ?? 0).trim()
  const type = NOTE_TYPES[field('type') ?? ''] ?? 'discovery'
  const [, heading] = /^#[ \t]+(.+)$/m.exec(body) ?? []
  const title = field('name') ?? heading?.trim() ?? name
  if (body === '') return []
  if (body.length <= WHOLE_NOTE_CHARS) return [{ title, subtitle: field('description'), text: body, type }]
  return body
    .split(/^(?=##\s)/m)
    .map((section) => section.trim())
    .filter((section) => section !== '' && !/^#{1,6}\s[^\n]*$/.test(section))
    .map((section) => {
      const [, own] = /^##[ \t]+(.+)$/m.exec(section) ?? []
      return {
        title: own === undefined ? title : `${title}: ${own.trim()}`,
        subtitle: field('description'),
        text: section,
        type,
      }
    })
}

function observationOf(
  { title, subtitle, text, type }: Note,
  { id, file, session, changedAt }: { id: number; file: string; session: SessionRecord; changedAt: number },
): ObservationRecord {
  return {
    kind: 'observation',
    id,
    session: session.id,
    project: session.project,
    createdAt: changedAt,
    type,
    title: cutText(title, MAX_RECORD_TEXT_CHARS),
    subtitle,
    narrative: cutText(text, MAX_RECORD_TEXT_CHARS),
    facts: [],
    concepts: ['auto-memory'],
    filesRead: [file],
    filesModified: [],
    functionsChanged: [],
    agent: null,
    promptNumber: 0,
    discoveryTokens: 0,
    discoveryEstimated: true,
    sources: [],
    model: null,
    promptVersion: null,
    saidBy: 'agent',
  }
}
