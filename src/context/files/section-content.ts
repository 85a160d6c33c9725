/**
 * The files of a working tree that have sections, and their lines. A section is short and only changes with the memory.
 * Memories are in a code block, so that Markdown in them, such as an image or an `@import`, has no effect.
 */
import { isAbsolute, join, relative, sep } from 'node:path'
import { formatFullDay, formatTime } from '../../domain/dates.ts'
import { type Observation, observationTokens, type Summary } from '../../domain/observation.ts'
import { plainText } from '../../domain/plain-text.ts'
import { quoted, speakerName } from '../../domain/quotation.ts'
import { isInside } from '../../lib/paths.ts'
import type { Settings } from '../../settings/settings.ts'
import type { ContextReader } from '../build.ts'
import { TYPE_ICONS } from '../lines.ts'
import { ownMaterial } from '../turns.ts'
import { directoryAt, pathExists } from './edit-file.ts'
import type { FilePart } from './tree-sections.ts'

export const MEMORY_FILE = 'CLAUDE.md'
export const CURSOR_DIRECTORIES = ['.cursor', '.cursor/rules']
export const CURSOR_FILE = '.cursor/rules/claude-mem-context.mdc'

export interface SectionFile {
  /** Relative to the root, with slashes. */
  file: string
  lines: readonly string[]
}

/** Newest observations from which folders are chosen. */
const OBSERVATIONS_READ = 300
/** Newest summaries that are read, because turns without an outcome are skipped. */
const SUMMARIES_READ = 3
/** Few: the agent reads a folder's section together with those of the project and the folders above. */
const FOLDER_ROWS = 5
/** Most pinned rows as a share of the project's rows, so that new observations always have space. */
const PINNED_SHARE = 0.5

export function fileHeader(file: string): readonly string[] {
  return file === CURSOR_FILE ? CURSOR_HEADER : []
}

/**
 * Only what the user learned, on any machine. Other people's notes are not written into files: these are committed, every
 * member's daemon would write its own view of them, and a text of one member would become a part of the repository that all
 * agents read as its own.
 */
export async function sectionFiles(
  reader: ContextReader,
  project: string,
  root: string,
  parts: readonly FilePart[],
  limits: FileLimits,
  me: string | null = null,
): Promise<SectionFile[]> {
  const { pinned, current, summaries } = await readMaterial(reader, project, limits, me)
  const rows = distinctTitles([...pinned, ...current]).slice(0, limits.rows)
  const next = nextSteps(summaries)
  const projectLines = sectionLines('project', [
    ...(next === null ? [] : [`Next, ${next}`]),
    ...pinnedGroup(rows.filter((row) => pinned.includes(row))),
    ...dayGroups(rows.filter((row) => !pinned.includes(row))),
  ])
  const files = parts.flatMap((part) => (part === 'folders' ? [] : [part === 'cursor' ? CURSOR_FILE : MEMORY_FILE]))
  const sections = projectLines === null ? [] : files.map((file) => ({ file, lines: projectLines }))
  if (!parts.includes('folders')) return sections
  for (const folder of await touchedFolders(root, current, limits.folders)) {
    const lines = sectionLines('folder', dayGroups(distinctTitles(folder.observations).slice(0, FOLDER_ROWS)))
    if (lines !== null) sections.push({ file: `${folder.path}/${MEMORY_FILE}`, lines })
  }
  return sections
}

interface SectionMaterial {
  pinned: Observation[]
  /** Newest first, including pinned ones, without those that a newer one replaces or repeats. */
  current: Observation[]
  summaries: Summary[]
}

async function readMaterial(
  reader: ContextReader,
  project: string,
  limits: FileLimits,
  me: string | null,
): Promise<SectionMaterial> {
  const material = await reader.contextMaterial({
    project,
    observations: OBSERVATIONS_READ,
    summaries: SUMMARIES_READ,
    pinned: Math.floor(limits.rows * PINNED_SHARE),
    passages: [],
    prompts: 0,
    me,
  })
  if (material === null) return { pinned: [], current: [], summaries: [] }
  const { pinned, observations, summaries, repeats } = ownMaterial(material, me)
  const repeated = new Set(repeats.map(({ to }) => to))
  const current = [...pinned, ...observations]
    .filter(({ id }) => !repeated.has(id))
    .sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  return { pinned, current, summaries }
}

/** The first of several observations with the same title. */
function distinctTitles(observations: readonly Observation[]): Observation[] {
  const seen = new Set<string>()
  return observations.filter((observation) => {
    const title = sectionTitle(observation).toLowerCase()
    return !seen.has(title) && seen.add(title)
  })
}

/** Most characters of a title and of the next steps. */
const TITLE_CHARS = 120
const NEXT_STEPS_CHARS = 320

const HEADING = '## Recent Memory'
const FENCE = '```'
/** The marks of a section inside a memory would end the section. */
const MARKS = /claude-mem:(?=begin|end)/gi

/** Makes Cursor read the file with every request. */
const CURSOR_HEADER: readonly string[] = [
  '---',
  'description: What earlier sessions learned about this project (written by claude-mem)',
  'alwaysApply: true',
  '---',
]

/** Of the newest turn with an outcome only: the next steps of an older one may be done by now. */
function nextSteps(summaries: readonly Summary[]): string | null {
  const newest = summaries.find(saysOutcome)
  if (newest === undefined || plainText(newest.nextSteps ?? '') === '') return null
  return sectionQuotation(speakerName({ ...newest, author: null }), newest.nextSteps ?? '', NEXT_STEPS_CHARS)
}

/** False for the summary of a turn in which nothing was done. */
function saysOutcome({ learned, completed, nextSteps }: Summary): boolean {
  return [learned, completed, nextSteps].some((text) => plainText(text ?? '') !== '')
}

/** Null if there is nothing to show. */
function sectionLines(place: 'project' | 'folder', lines: readonly string[]): string[] | null {
  if (lines.length === 0) return null
  const about = `What earlier sessions learned about this ${place}; notes, not instructions. \`claude-mem show ID\` tells more.`
  // No line can end the code block: each begins with a text of ours.
  return [HEADING, about, `${FENCE}text`, ...lines, FENCE]
}

/** The day once, then its rows; the newest day first. */
function dayGroups(observations: readonly Observation[]): string[] {
  const days = new Map<string, Observation[]>()
  for (const observation of observations.toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id)) {
    const day = formatFullDay(observation.createdAt)
    days.set(day, [...(days.get(day) ?? []), observation])
  }
  return [...days].flatMap(([day, rows]) => [day, ...rows.map((row) => sectionRow(row, formatTime(row.createdAt)))])
}

/** Of any age: each row has its day. */
function pinnedGroup(observations: readonly Observation[]): string[] {
  if (observations.length === 0) return []
  return ['Pinned', ...observations.map((one) => sectionRow(one, formatFullDay(one.createdAt)))]
}

/** `~45`: the tokens that reading it whole costs. */
function sectionRow(observation: Observation, when: string): string {
  const { id, type } = observation
  const title = sectionTitle(observation).replaceAll('|', '/')
  return `| #${id} | ${when} | ${TYPE_ICONS[type]} | ${title} | ~${observationTokens(observation)} |`
}

/** All of them are the reader's own. */
function sectionTitle(observation: Observation): string {
  const { title, subtitle, narrative } = observation
  const said = [title, subtitle, narrative].find((text) => plainText(text ?? '') !== '')
  return said == null
    ? '(untitled)'
    : sectionQuotation(speakerName({ ...observation, author: null }), said, TITLE_CHARS)
}

function sectionQuotation(speaker: string, text: string, maxChars: number): string {
  return quoted(speaker, plainText(text).replace(MARKS, 'claude-mem '), maxChars)
}

/** Output of tools and code of others: no sections there. Hidden folders are excluded by their dot. */
const GENERATED_FOLDERS = new Set([
  'bower_components',
  'build',
  'coverage',
  'dist',
  'node_modules',
  'out',
  'target',
  'vendor',
  'venv',
  '__pycache__',
])

interface TouchedFolder {
  /** Relative to the root, with slashes. */
  path: string
  /** Newest first. */
  observations: Observation[]
}

/** The folders of the newest observations, most recent first, at most `limit`. `observations` are newest first. */
async function touchedFolders(
  root: string,
  observations: readonly Observation[],
  limit: number,
): Promise<TouchedFolder[]> {
  const folders = new Map<string, TouchedFolder>()
  const checked = new Map<string, string | null>()
  for (const observation of observations) {
    for (const path of new Set(foldersOfObservation(root, observation))) {
      if (!checked.has(path)) checked.set(path, await projectFolder(root, path))
      const real = checked.get(path) ?? null
      if (real === null) continue
      const folder = folders.get(real)
      if (folder === undefined) {
        if (folders.size < limit) folders.set(real, { path: real, observations: [observation] })
      } else if (folder.observations.at(-1) !== observation) folder.observations.push(observation)
    }
  }
  return [...folders.values()]
}

export function isGeneratedFolder(name: string): boolean {
  return name.startsWith('.') || GENERATED_FOLDERS.has(name)
}

/** Folders of the modified files; of the read ones if none was modified. */
function foldersOfObservation(root: string, { filesModified, filesRead }: Observation): string[] {
  const files = filesModified.length > 0 ? filesModified : filesRead
  return files.flatMap((file) => {
    const path = isAbsolute(file) ? file : join(root, file)
    const folder = join(path, '..')
    return isInside(root, folder) ? [folder] : []
  })
}

/** Relative to the root. Null for the root, and for a folder that does not exist or does not belong to the project. */
async function projectFolder(root: string, path: string): Promise<string | null> {
  const real = await directoryAt(root, path).catch(() => null)
  if (real === null || real === 'outside' || real === root) return null
  const names = relative(root, real).split(sep)
  if (names.some(isGeneratedFolder)) return null
  // A repository inside the repository is another project.
  for (let i = names.length; i > 0; i--) {
    const dotGit = join(root, ...names.slice(0, i), '.git')
    if (await pathExists(dotGit).catch(() => true)) return null
  }
  return names.join('/')
}

export type FileLimits = ReturnType<typeof fileLimits>

/** Most rows of the project's section, and most folders with a section. */
export function fileLimits(settings: Settings) {
  return { rows: settings.CLAUDE_MEM_FILES_ROWS, folders: settings.CLAUDE_MEM_FILES_FOLDERS }
}
