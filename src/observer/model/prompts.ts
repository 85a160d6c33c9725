/**
 * The texts that a model reads, from `prompts/*.md`. Each file may be replaced by one of the user's own; an invalid file
 * is reported and ours is used, so that it never stops the memory. A file has front matter with a version, then Markdown
 * with `{{placeholders}}`.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cutText } from '../../domain/sanitize.ts'
import { errorMessage, MemError, systemCode } from '../../lib/errors.ts'
import { readRegularFileSync } from '../../lib/files.ts'

/** The placeholders of each prompt. One that is missing would silently lose its value. */
const PROMPT_PLACEHOLDERS = {
  init: { required: ['verbosity', 'language'], optional: [] },
  'verbosity-minimal': { required: [], optional: [] },
  'verbosity-normal': { required: [], optional: [] },
  'verbosity-verbose': { required: [], optional: [] },
  opening: { required: ['project', 'request'], optional: ['directory', 'date', 'open'] },
  request: { required: ['text'], optional: ['report'] },
  report: { required: ['text'], optional: [] },
  observation: { required: ['request', 'batch'], optional: ['stored'] },
  summary: { required: ['request', 'last_message'], optional: ['stored'] },
  'session-summary': { required: ['turns'], optional: ['decisions'] },
  compaction: { required: ['digest'], optional: ['opening'] },
} as const satisfies Record<string, { required: readonly string[]; optional: readonly string[] }>

type PromptName = keyof typeof PROMPT_PLACEHOLDERS
export const PROMPT_NAMES = Object.keys(PROMPT_PLACEHOLDERS) as PromptName[]

type PlaceholderOf<N extends PromptName> =
  | (typeof PROMPT_PLACEHOLDERS)[N]['required'][number]
  | (typeof PROMPT_PLACEHOLDERS)[N]['optional'][number]

interface Prompt<N extends PromptName> {
  name: N
  /** `init-1`: ours; `own:1a2b3c4d`: the user's, by its content. */
  version: string
  text: string
}

export type Prompts = { readonly [N in PromptName]: Prompt<N> } & {
  /** Stored on each observation: `1`, or `1+own:1a2b3c4d` if any file is the user's. */
  readonly version: string
}

interface PromptFolders {
  folder: string
  /** The user's folder; null if there is none. */
  override: string | null
}

export function loadPrompts({ folder, override }: PromptFolders): { prompts: Prompts; problems: string[] } {
  const problems = override === null ? [] : folderProblems(override)
  const userPrompts: string[] = []
  let newest = 0
  const load = <N extends PromptName>(name: N): Prompt<N> => {
    const ours = readBuiltInPrompt(folder, name)
    // A changed prompt gets the next number of all, so that the highest version names the whole set.
    newest = Math.max(newest, ours.version)
    const text = override === null ? null : readUserPrompt(join(override, `${name}.md`), name, problems)
    if (text === null) return { name, version: `${name}-${ours.version}`, text: ours.text }
    const hash = shortHash(text)
    userPrompts.push(`${name} ${hash}`)
    return { name, version: `own:${hash}`, text }
  }
  const loaded = {
    init: load('init'),
    'verbosity-minimal': load('verbosity-minimal'),
    'verbosity-normal': load('verbosity-normal'),
    'verbosity-verbose': load('verbosity-verbose'),
    opening: load('opening'),
    request: load('request'),
    report: load('report'),
    observation: load('observation'),
    summary: load('summary'),
    'session-summary': load('session-summary'),
    compaction: load('compaction'),
  }
  const version = userPrompts.length === 0 ? String(newest) : `${newest}+own:${shortHash(userPrompts.join('\n'))}`
  return { prompts: { ...loaded, version }, problems }
}

/**
 * One pass: placeholders inside a value are not expanded. A placeholder alone on its line removes the line, and the empty
 * line after it, if its value is empty.
 */
export function fillPrompt<N extends PromptName>(
  prompt: Prompt<N>,
  values: Readonly<Record<PlaceholderOf<N>, string>>,
): string {
  const given = new Map(Object.entries<string>(values))
  return prompt.text
    .replace(/^\{\{([a-z_]+)\}\}\n(\n?)|\{\{([a-z_]+)\}\}/gm, (_whole, alone, gap, inline) => {
      const value = given.get(alone ?? inline) ?? ''
      if (alone === undefined) return value
      return value === '' ? '' : `${value}\n${gap}`
    })
    .trim()
}

const VERBOSITY_LEVELS = ['minimal', 'normal', 'verbose'] as const
const DEFAULT_LANGUAGE = 'English'
/** Enough for the name of a language. */
const MAX_LANGUAGE_CHARS = 80

/** The system text of every call: the same for all sessions with the same settings, so that it can be cached. */
export function systemPrompt(
  prompts: Prompts,
  { verbosity, language }: { verbosity: string; language: string },
): string {
  const level = VERBOSITY_LEVELS.find((known) => known === verbosity) ?? 'normal'
  return fillPrompt(prompts.init, {
    verbosity: prompts[`verbosity-${level}` as const].text,
    language: cutText(language.trim(), MAX_LANGUAGE_CHARS) || DEFAULT_LANGUAGE,
  })
}

/** `dist/chunks` is two levels below the package, a build in `node_modules/.cache` up to five. */
const MAX_PARENT_FOLDERS = 6

/** Beside the built program's directory, or at the root of the sources. */
export function builtInPromptFolder(): string {
  let at = dirname(fileURLToPath(import.meta.url))
  for (let up = 0; up < MAX_PARENT_FOLDERS; up++, at = dirname(at)) {
    if (existsSync(join(at, 'prompts', 'init.md'))) return join(at, 'prompts')
  }
  throw new MemError('internal', `The prompts are missing above ${at}. Install claude-mem again.`)
}

/** The folder of the user's own prompts; null if there is none. `configured` is CLAUDE_MEM_PROMPT_DIR. */
export function userPromptFolder(dataDir: string, configured: string): string | null {
  if (configured !== '') return configured
  const byDefault = join(dataDir, 'prompts')
  return existsSync(byDefault) ? byDefault : null
}

function readBuiltInPrompt(folder: string, name: PromptName): { version: number; text: string } {
  const file = join(folder, `${name}.md`)
  let parsed: ParsedPrompt
  try {
    parsed = parsePromptFile(name, readFileSync(file))
  } catch (cause) {
    throw new MemError('internal', `${file} cannot be read. Install claude-mem again.`, { cause })
  }
  if (parsed.ok) return parsed
  throw new MemError('internal', `${file} was changed: ${parsed.problem}. Install claude-mem again.`)
}

function readUserPrompt(file: string, name: PromptName, problems: string[]): string | null {
  const report = (problem: string): null => {
    problems.push(`${file}: ${problem}. Ours is used meanwhile.`)
    return null
  }
  try {
    const stat = statSync(file)
    // Reading a device or a pipe would block.
    if (!stat.isFile()) return report('it is not a file; replace it with one, or remove it')
    if (stat.size > MAX_PROMPT_BYTES) return report(TOO_LARGE)
    const parsed = parsePromptFile(name, readRegularFileSync(file, MAX_PROMPT_BYTES))
    return parsed.ok ? parsed.text : report(parsed.problem)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    return report(`it cannot be read (${errorMessage(error)}); let your user read it, or remove it`)
  }
}

/** Far above the size of a prompt that should be sent with every call. */
export const MAX_PROMPT_BYTES = 65_536
const TOO_LARGE = `it is larger than ${MAX_PROMPT_BYTES / 1024} KB; shorten it`

type ParsedPrompt = { ok: true; version: number; text: string } | { ok: false; problem: string }

const invalid = (problem: string): ParsedPrompt => ({ ok: false, problem })

/** `problem` says what is wrong and what to do about it. */
export function parsePromptFile(name: PromptName, bytes: Buffer): ParsedPrompt {
  if (bytes.length > MAX_PROMPT_BYTES) return invalid(TOO_LARGE)
  const whole = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
  if (whole.includes('\ufffd') || whole.includes('\0')) return invalid('it is not UTF-8 text; save it as UTF-8')
  if (whole.trim() === '') return invalid('it is empty; write the prompt, or delete the file to use ours')
  const frontMatter = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(whole)
  const version = /^version:[ \t]*(\d{1,6})[ \t]*$/m.exec(frontMatter?.[1] ?? '')?.[1]
  if (frontMatter === null || version === undefined) {
    return invalid('it has no version; begin it with the three lines `---`, `version: 1`, `---`')
  }
  const text = whole.slice(frontMatter[0].length).trim()
  if (text === '') return invalid('nothing follows its front matter; write the prompt, or delete the file to use ours')
  const problem = placeholderProblem(name, text)
  return problem === null ? { ok: true, version: Number(version), text } : invalid(problem)
}

/** Unknown placeholders that one message names. */
const MAX_NAMED_PLACEHOLDERS = 5

function placeholderProblem(name: PromptName, text: string): string | null {
  const { required, optional }: { required: readonly string[]; optional: readonly string[] } = PROMPT_PLACEHOLDERS[name]
  const used = new Set([...text.matchAll(/\{\{([^{}\n]*)\}\}/g)].map(([, inner = '']) => inner))
  const missing = required.filter((placeholder) => !used.has(placeholder))
  if (missing.length > 0) return `${inBraces(missing)} is missing; add it where its text should be`
  const known = [...required, ...optional]
  const unknown = [...used].filter((placeholder) => !known.includes(placeholder))
  if (unknown.length === 0) return null
  const hint = known.length === 0 ? 'this prompt has none' : `it may use ${inBraces(known)}`
  return `${inBraces(unknown.slice(0, MAX_NAMED_PLACEHOLDERS))} is not a placeholder; ${hint}`
}

function inBraces(names: readonly string[]): string {
  return names.map((name) => `{{${name}}}`).join(', ')
}

/** Stray files that are reported; a folder full of notes is one mistake. */
const MAX_STRAY_FILES = 5

/** A folder that cannot be read, and Markdown files that are not named after a prompt. */
function folderProblems(folder: string): string[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    return [
      `${folder}: this folder for your own prompts cannot be read (${errorMessage(error)}); create it, or clear CLAUDE_MEM_PROMPT_DIR. Ours are used meanwhile.`,
    ]
  }
  const known = PROMPT_NAMES.map((name) => `${name}.md`)
  return names
    .filter((name) => name.endsWith('.md') && name.toLowerCase() !== 'readme.md' && !known.includes(name))
    .slice(0, MAX_STRAY_FILES)
    .map((name) => `${join(folder, name)}: there is no prompt of this name; the names are ${known.join(', ')}.`)
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
