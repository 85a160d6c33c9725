/**
 * Words of others in our text. Without marks we write only what claude-mem computed itself: outcomes, git, files, times and
 * counts. Everything else is quoted with its speaker, whatever it says, in whatever language. Names that others chose (of
 * files, projects, branches) are code spans.
 */
import { isHandWritten, type MemoryOrigin, type Observation } from './observation.ts'
import { plainLines, plainText, truncateAtWord } from './plain-text.ts'
import type { HitPassage, HitPiece } from './search-query.ts'
import { isReported, type Speaker } from './speaker.ts'

/** Longest text that is quoted on one line. */
const MAX_CHARS = 2_000
/** Longest name of a file, a project or a branch. */
const MAX_NAME_CHARS = 90

/** Every character that could close the quotation, or be taken for its end. Straight marks are a part of code, and close nothing. */
const CURLY_QUOTES = /[“”„‟❝❞❠〝〞〟〃＂״″‴⁗‶‷ʺˮ˝˶⹂🙶🙷🙸]|[‘’‚‛′‵ʹʻʼʽˊ´\u1ffd]{2,}/gu

/** As a part of a quotation. */
export const withoutCurlyQuotes = (text: string): string => text.replace(CURLY_QUOTES, '"')

/** On one line, between marks that the text cannot close. For a place that names the speaker itself. */
export function quotation(text: string, maxChars = MAX_CHARS): string {
  return `“${withoutCurlyQuotes(truncateAtWord(plainText(text), maxChars))}”`
}

/** `agent: “…”` */
export function quoted(speaker: string, text: string, maxChars = MAX_CHARS): string {
  return `${speaker}: ${quotation(text, maxChars)}`
}

/** A longer text keeps its lines. Each has the mark of a quotation, so that none can pass for a line of ours. */
export function quotedLines(speaker: string, text: string, maxChars: number): string {
  const lines = plainLines(text, maxChars).map(withoutCurlyQuotes)
  const [only] = lines
  if (only === undefined) return ''
  return lines.length === 1 ? `${speaker}: “${only}”` : [`${speaker}:`, ...lines.map((line) => `> ${line}`)].join('\n')
}

/** Every character that ends a code span, looks as if it did, or becomes one that does when a reader normalises the text. */
const BACKTICKS = /[`｀\u1fef´\u1ffdˋˊ˴ʹ՝‵′]|(?<![\p{L}\p{M}])[\u0300\u0340]/gu

/** A name as a code span that it cannot end; of a long one, the beginning. */
export function nameSpan(name: string, maxChars = MAX_NAME_CHARS): string {
  return `\`${truncateAtWord(plainText(name).replace(CURLY_QUOTES, "'").replace(BACKTICKS, "'"), maxChars)}\``
}

const SPEAKER_NAMES: Record<Speaker, string> = { person: 'user', agent: 'agent', tool: 'tool', web: 'page' }

type Said = Pick<MemoryOrigin, 'author'> & Partial<Pick<Observation, 'saidBy' | 'saidIn'>>

/** What a user sent may contain what they pasted: it is their prompt, not their word. */
export const PROMPT_SPEAKER = 'prompt'
export const AGENT_SPEAKER = SPEAKER_NAMES.agent

/** The speaker of a memory, before a quotation of it. `me`: the name of this machine's user in a team. */
export function speakerName({ author, saidBy, saidIn }: Said, me: string | null = null): string {
  if (author != null && author !== me) return `member ${quotation(author, MAX_NAME_CHARS)}`
  const name = SPEAKER_NAMES[saidBy ?? 'agent']
  // Only a note that was written with `remember` has it; an imported one is no note of this user or agent anymore.
  return saidIn == null || isReported(saidBy) ? name : `the ${name} noted`
}

type Hit = Pick<HitPiece, 'kind' | 'saidBy'> & {
  session: string
  author?: string | null | undefined
  passage?: HitPassage | null
}

/** The speaker of what a search or a timeline found. Other people's memories have an author here, one's own have none. */
export function hitSpeaker({ kind, passage, saidBy, author, session }: Hit): string {
  const isPrompt = kind === 'prompt' || passage?.kind === 'prompt'
  if (isPrompt && author == null && !isReported(saidBy)) return PROMPT_SPEAKER
  return speakerName({
    author: author ?? null,
    saidBy: saidBy ?? null,
    saidIn: isHandWritten({ session }) ? session : null,
  })
}

const SUBJECT_CHARS = 80

/** What a passage is about: a file or a commit; a command line, a question or a tool may contain any text. */
export function passageSubject({ kind, subject }: Pick<HitPassage, 'kind' | 'subject'>): string | undefined {
  if (subject === null) return undefined
  const isName = kind === 'edit' || kind === 'file' || kind === 'commit'
  return isName ? nameSpan(subject, SUBJECT_CHARS) : quotation(subject, SUBJECT_CHARS)
}
