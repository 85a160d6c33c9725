/** The words a model reads: ours, replaced file by file by the user's own. A faulty file of theirs never stops the memory. */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MemError, messageOf, systemCode } from '../../errors.ts'
import { cutText } from '../../memory/bound.ts'
import {
  MAX_PROMPT_BYTES,
  type ParsedPrompt,
  type PlaceholderOf,
  PROMPT_NAMES,
  type PromptName,
  parsePrompt,
} from './prompt-file.ts'

export interface Prompt<N extends PromptName> {
  name: N
  /** `init-1`: ours; `own:1a2b3c4d`: the user's, by its content. */
  version: string
  text: string
}

export type Prompts = { readonly [N in PromptName]: Prompt<N> } & {
  /** What is stored on each observation: `1`, or `1+own:1a2b3c4d` where any file is the user's. */
  readonly version: string
}

export interface PromptFolders {
  folder: string
  /** The user's; null: there is none. */
  override: string | null
}

export function loadPrompts({ folder, override }: PromptFolders): { prompts: Prompts; problems: string[] } {
  const problems = override === null ? [] : folderProblems(override)
  const own: string[] = []
  let newest = 0
  const load = <N extends PromptName>(name: N): Prompt<N> => {
    const ours = ourPrompt(folder, name)
    // Whoever changes one of ours gives it the next number, so that the highest names the whole set.
    newest = Math.max(newest, ours.version)
    const theirs = override === null ? null : ownPrompt(join(override, `${name}.md`), name, problems)
    if (theirs === null) return { name, version: `${name}-${ours.version}`, text: ours.text }
    const hash = shortDigest(theirs)
    own.push(`${name} ${hash}`)
    return { name, version: `own:${hash}`, text: theirs }
  }
  const loaded = {
    init: load('init'),
    'verbosity-minimal': load('verbosity-minimal'),
    'verbosity-normal': load('verbosity-normal'),
    'verbosity-verbose': load('verbosity-verbose'),
    opening: load('opening'),
    request: load('request'),
    observation: load('observation'),
    summary: load('summary'),
    compaction: load('compaction'),
  }
  const version = own.length === 0 ? String(newest) : `${newest}+own:${shortDigest(own.join('\n'))}`
  return { prompts: { ...loaded, version }, problems }
}

/**
 * One pass: what a value holds is never expanded. A placeholder alone on its line takes the line with it, and the
 * empty line after it, when its value is empty.
 */
export function fill<N extends PromptName>(
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

export interface Manner {
  /** `minimal`, `normal` or `verbose`. */
  verbosity: string
  language: string
}

const DEFAULT_LANGUAGE = 'English'
/** A language has a name, not a story. */
const MAX_LANGUAGE_CHARS = 80

/** The fixed part of every call: the same for all sessions with the same settings, so that it can be cached. */
export function systemPrompt(prompts: Prompts, { verbosity, language }: Manner): string {
  return fill(prompts.init, {
    verbosity: verbosityText(prompts, verbosity),
    language: cutText(language.trim(), MAX_LANGUAGE_CHARS) || DEFAULT_LANGUAGE,
  })
}

function verbosityText(prompts: Prompts, verbosity: string): string {
  if (verbosity === 'minimal') return prompts['verbosity-minimal'].text
  if (verbosity === 'verbose') return prompts['verbosity-verbose'].text
  return prompts['verbosity-normal'].text
}

const MAX_FOLDERS_UP = 6 // dist/chunks lies two below the package, a build in node_modules/.cache up to five

/** Our own folder: beside the built program's directory, or at the root of the sources. */
export function promptFolder(): string {
  let at = dirname(fileURLToPath(import.meta.url))
  for (let up = 0; up < MAX_FOLDERS_UP; up++, at = dirname(at)) {
    if (existsSync(join(at, 'prompts', 'init.md'))) return join(at, 'prompts')
  }
  throw new MemError('internal', `The prompts are missing above ${at}. Install claude-mem again.`)
}

function ourPrompt(folder: string, name: PromptName): { version: number; text: string } {
  const file = join(folder, `${name}.md`)
  let parsed: ParsedPrompt
  try {
    parsed = parsePrompt(name, readFileSync(file))
  } catch (cause) {
    throw new MemError('internal', `${file} cannot be read. Install claude-mem again.`, { cause })
  }
  if (parsed.ok) return parsed
  throw new MemError('internal', `${file} was changed: ${parsed.fault}. Install claude-mem again.`)
}

function ownPrompt(file: string, name: PromptName, problems: string[]): string | null {
  const report = (fault: string): null => {
    problems.push(`${file}: ${fault}. Ours is used meanwhile.`)
    return null
  }
  try {
    // A device or a pipe would be waited for.
    if (!statSync(file).isFile()) return report('it is not a file; replace it by one, or remove it')
    const parsed = parsePrompt(name, readStart(file))
    return parsed.ok ? parsed.text : report(parsed.fault)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    return report(`it cannot be read (${messageOf(error)}); let your user read it, or remove it`)
  }
}

/** One byte more than is allowed tells that there are too many. */
function readStart(file: string): Buffer {
  const handle = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(MAX_PROMPT_BYTES + 1)
    let length = 0
    for (;;) {
      const read = readSync(handle, buffer, length, buffer.length - length, null)
      length += read
      if (read === 0 || length === buffer.length) return buffer.subarray(0, length)
    }
  } finally {
    closeSync(handle)
  }
}

/** A folder that is not there, and files that no prompt is called by: the user meant something by them. */
function folderProblems(folder: string): string[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    return [
      `${folder}: this folder for your own prompts cannot be read (${messageOf(error)}); make it, or clear CLAUDE_MEM_PROMPT_DIR. Ours are used meanwhile.`,
    ]
  }
  const known = new Set(PROMPT_NAMES.map((name) => `${name}.md`))
  return names
    .filter((name) => name.endsWith('.md') && name.toLowerCase() !== 'readme.md' && !known.has(name))
    .slice(0, MAX_STRAYS)
    .map((name) => `${join(folder, name)}: no prompt is called so; the names are ${[...known].join(', ')}.`)
}

/** Files named as strays; a folder full of notes is one mistake, not a hundred. */
const MAX_STRAYS = 5

function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
