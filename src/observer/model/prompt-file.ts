/** One prompt as it stands in its file: front matter with a version, then Markdown with `{{placeholders}}`. */

/** What each prompt's text must and may hold. A value without a place would be lost in silence. */
export const PROMPT_PLACEHOLDERS = {
  init: { must: ['verbosity', 'language'], may: [] },
  'verbosity-minimal': { must: [], may: [] },
  'verbosity-normal': { must: [], may: [] },
  'verbosity-verbose': { must: [], may: [] },
  opening: { must: ['project', 'request'], may: ['technologies', 'directory', 'date'] },
  request: { must: ['text'], may: [] },
  observation: { must: ['request', 'batch'], may: [] },
  summary: { must: ['request', 'last_message'], may: [] },
  compaction: { must: ['digest'], may: ['opening'] },
} as const satisfies Record<string, { must: readonly string[]; may: readonly string[] }>

export type PromptName = keyof typeof PROMPT_PLACEHOLDERS
export const PROMPT_NAMES = Object.keys(PROMPT_PLACEHOLDERS) as PromptName[]

export type PlaceholderOf<N extends PromptName> =
  | (typeof PROMPT_PLACEHOLDERS)[N]['must'][number]
  | (typeof PROMPT_PLACEHOLDERS)[N]['may'][number]

/** Far above any prompt that a model should read with every call. */
export const MAX_PROMPT_BYTES = 65_536

export type ParsedPrompt = { ok: true; version: number; text: string } | { ok: false; fault: string }

/** `fault` says what is wrong and what to do about it. */
export function parsePrompt(name: PromptName, bytes: Buffer): ParsedPrompt {
  if (bytes.length > MAX_PROMPT_BYTES) return fault(`it is larger than ${MAX_PROMPT_BYTES / 1024} KB; shorten it`)
  const whole = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
  if (whole.includes('\ufffd') || whole.includes('\0')) return fault('it is not UTF-8 text; save it as UTF-8')
  if (whole.trim() === '') return fault('it is empty; write the prompt, or delete the file to use ours')
  const front = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(whole)
  const version = /^version:[ \t]*(\d{1,6})[ \t]*$/m.exec(front?.[1] ?? '')?.[1]
  if (front === null || version === undefined) {
    return fault('it has no version; begin it with the three lines `---`, `version: 1`, `---`')
  }
  const text = whole.slice(front[0].length).trim()
  if (text === '') return fault('nothing follows its front matter; write the prompt, or delete the file to use ours')
  const wrong = placeholderFault(name, text)
  return wrong === null ? { ok: true, version: Number(version), text } : fault(wrong)
}

function placeholderFault(name: PromptName, text: string): string | null {
  const { must, may }: { must: readonly string[]; may: readonly string[] } = PROMPT_PLACEHOLDERS[name]
  const used = new Set([...text.matchAll(/\{\{([^{}\n]*)\}\}/g)].map(([, inner = '']) => inner))
  const missing = must.filter((placeholder) => !used.has(placeholder))
  if (missing.length > 0) return `${braced(missing)} is missing; put it where its text should stand`
  const known = [...must, ...may]
  const unknown = [...used].filter((placeholder) => !known.includes(placeholder))
  if (unknown.length === 0) return null
  const hint = known.length === 0 ? 'this prompt has none' : `it may use ${braced(known)}`
  return `${braced(unknown.slice(0, MAX_NAMED))} is not a placeholder; ${hint}`
}

/** Names in one message; the first tell enough. */
const MAX_NAMED = 5

function braced(names: readonly string[]): string {
  return names.map((name) => `{{${name}}}`).join(', ')
}

function fault(words: string): ParsedPrompt {
  return { ok: false, fault: words }
}
