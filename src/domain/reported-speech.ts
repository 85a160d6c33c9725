/**
 * Text of others in our own. Memories are inserted into prompts, and a page, an issue or a test's output may contain
 * sentences that are written for the agent. Such a sentence is shown in quotation marks with its origin, or not at all.
 * All patterns are linear: they run on text that others wrote.
 */
import type { Observation } from './observation.ts'
import { isReported, type Speaker } from './speaker.ts'

/** Characters read of a text; what is made of it is far shorter. */
const MAX_CHARS = 20_000

const QUOTED_LINE = /^\s*>/
/** Lines of a table, a log, a diff, a stack trace or a shell, as people paste them into prompts. */
const PASTED_LINE =
  /^\s*(?:\||\[?\d{4}-\d\d-\d\d[T ]\d|\[?\d\d:\d\d:\d\d|\[?(?:error|warn|warning|info|debug|trace|fatal|fail|failed)\b\s*[\]:]|at \S+ \(|file "|traceback|\$ |npm (?:err!|error|warn)|[+-]{3} |@@ |diff --git|e {3}|\w{0,40}(?:error|exception|warning)\b\s{0,3}:)/i
/** A line after which somebody else's text follows: "The issue says:", "This is the output of the test:". */
const INTRODUCES_TEXT =
  /\b(?:says?|said|wrote|writes|reads|reported|prints?|printed|commented|replied|answered)\b[^.!?\n]{0,20}:\s*$|\b(?:here(?:'s| is| are)|this|these|that|following|below|attached|pasted?|got|from)\b[^.!?\n]{0,60}\b(?:issue|ticket|comment|logs?|output|error|trace|e-?mail|message|page|article|readme|response|review|stderr|stdout|description)\b[^.!?\n]{0,40}:\s*$|^\W{0,4}(?:issue|ticket|comment|logs?|output|error|stack ?trace|e-?mail|article|readme|response|review|stderr|stdout|description)\b[^.!?\n]{0,40}:\s*$/i
const FENCE = /^\s{0,8}(?:`{3}|~{3})/
const TAG_LINE = /^\s{0,20}<([a-z][\w-]{1,40})(?:\s[^<>]{0,200})?>/i
const INLINE_TAG = /<([a-z][\w-]{1,40})>[^<]{0,2000}<\/\1>/gi
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g
/** A quotation of some words; a name or a value in quotation marks is shorter. */
const QUOTATION = /"[^"\n]{16,}"|“[^”\n]{16,}”|«[^»\n]{16,}»|„[^“”\n]{16,}[“”]/g

/**
 * What the author of a text says himself: without quoted lines, code blocks and quotations, in a prompt also without what
 * was pasted.
 */
export function ownWords(text: string, kind: 'prompt' | 'message'): string {
  const bounded = text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS / 2)}\n${text.slice(-MAX_CHARS / 2)}`
  const lines = bounded.replace(COMMENT, ' ').replace(INLINE_TAG, ' ').split('\n')
  const own: string[] = []
  /** Until this line everything is foreign. */
  let foreignUntil = -1
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (i <= foreignUntil) continue
    if (FENCE.test(line)) foreignUntil = endOfFence(lines, i)
    else if (TAG_LINE.test(line)) foreignUntil = endOfTag(lines, i)
    else if (!QUOTED_LINE.test(line) && !(kind === 'prompt' && PASTED_LINE.test(line))) {
      own.push(line)
      if (kind === 'prompt' && INTRODUCES_TEXT.test(line)) foreignUntil = endOfParagraph(lines, i)
    }
  }
  return own.join('\n').replace(QUOTATION, withoutOrder).trim()
}

/** A quoted error message stays; a quoted order or decision does not. */
function withoutOrder(quotation: string): string {
  const text = quotation.slice(1, -1)
  return findDirective(text) === null && !CHOICE.test(text) ? quotation : '“…”'
}

function endOfFence(lines: readonly string[], from: number): number {
  const end = lines.findIndex((line, i) => i > from && FENCE.test(line))
  return end === -1 ? lines.length : end
}

/** The line of the tag itself if it is never closed. */
function endOfTag(lines: readonly string[], from: number): number {
  const name = TAG_LINE.exec(lines[from] ?? '')?.[1] ?? ''
  const end = lines.findIndex((line, i) => i >= from && line.includes(`</${name}`))
  return end === -1 ? from : end
}

/** The last line of the next lines without a blank one between them. */
function endOfParagraph(lines: readonly string[], from: number): number {
  let at = from + 1
  while (at < lines.length && (lines[at] ?? '').trim() === '') at++
  while (at < lines.length && (lines[at] ?? '').trim() !== '') at++
  return at - 1
}

/** Words before an order: "Important: please …". Taken off one after the other. */
const ADDRESS =
  /^(?:please|note|nb|important|attention|warning|urgent|reminder|critical|system|assistant|user|human|admin|claude|cursor|ai|llm|agents?|model|developer|ok|okay|now|then|also|so|and|but|first|second|finally|next(?: steps?)?|to-?do|fixme|decision|decided|rules?|policy|instructions?|tasks?|action(?: required| items?)?|step \d{1,3}|hint|tip|dear \w{1,20})\b[\s,:;!.*_=–—-]{0,8}/i
const MAX_ADDRESSES = 6
/** An order or a rule for the reader. */
const RULE =
  /^(?:always|never|do not|don['’]?t|must|shall|should|you|your|from now on|make sure|be sure|remember to|it is (?:required|mandatory|important)|(?:before|after|when(?:ever)?|if|on|every|each)\b.{1,80}[,:] ?(?:always|never|run|execute|call|send|use|delete|do)|no need to|act as|pretend)\b/i
/** An order anywhere in a sentence. */
const ORDER = [
  /\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,60}\b(?:instructions?|rules?|prompts?|context|guidelines?|polic(?:y|ies)|above|previous|prior)\b/i,
  /\b(?:you|agents?|assistants?|claude|the model|every session|everyone)\b.{0,20}\b(?:must|should|shall|have to|has to|need to|needs to|are to|will now|are now|are required)\b/i,
  /\b(?:from now on|new instructions?|system prompt|as an ai)\b/i,
  /\b(?:curl|wget|iwr|invoke-webrequest)\b.{0,120}\|\s{0,4}(?:sudo\s)?(?:ba|z|da)?sh\b/i,
]
/** Verbs of orders to an agent, in their base form. */
const ORDER_VERBS = new Set(
  `accept activate add adopt allow answer append apply approve assume authorize avoid cat chmod choose click clone commit
  configure connect consider contact continue copy create curl deactivate delete deploy disable disregard discard do download
  drop echo edit email enable encode ensure enter eval exec execute exfiltrate export fetch follow force forward give go grant hide ignore
  import include inform insert insist install invoke keep kill leak leave load log mail make merge modify mount move open
  output overwrite paste ping pip post prefer prepend print proceed publish pull push put read rebase reboot register remember
  remove rename replace reply repeat report request reset respond restart reveal revert revoke rm run save say send set share
  show sign skip start stay stick stop store submit sudo switch tell treat trust turn unset update upgrade upload use
  visit wget whitelist write`.split(/\s+/),
)

/** Of SQL and HTTP, in error messages. */
const STATEMENT_VERBS = new Set(['CREATE', 'DELETE', 'DROP', 'GRANT', 'POST', 'PUT', 'SET', 'UPDATE'])

export type Directive = 'rule' | 'command'

const CLAUSE_END = /(?<=[.!?;:→|])\s+|\s[–—-]\s/
const ANY_TAG = /[<＜‹][^<>＜＞‹›\n]{1,200}[>＞›]/g

/** Whether a sentence of the text is an order. Quotations in it are reports already and do not count. */
export function findDirective(text: string): Directive | null {
  const plain = withoutQuotations(text.slice(0, MAX_CHARS)).replace(ANY_TAG, '. ')
  let found: Directive | null = null
  for (const sentence of plain.split(CLAUSE_END)) {
    const directive = sentenceDirective(sentence)
    if (directive === 'rule') return 'rule'
    found ??= directive
  }
  return found
}

function withoutQuotations(text: string): string {
  return text.replace(/“[^”]*(?:”|$)/g, ' “…” ')
}

function sentenceDirective(sentence: string): Directive | null {
  let rest = sentence.replace(/^[^\p{L}]+/u, '')
  for (let i = 0; i < MAX_ADDRESSES; i++) {
    const shorter = rest.replace(ADDRESS, '').replace(/^[^\p{L}]+/u, '')
    if (shorter === rest) break
    rest = shorter
  }
  if (RULE.test(rest) || ORDER.some((pattern) => pattern.test(sentence))) return 'rule'
  const word = /^[a-z]+/i.exec(rest)?.[0] ?? ''
  // A single word is a name, not an order.
  if (rest.length <= word.length + 1 || STATEMENT_VERBS.has(word)) return null
  return ORDER_VERBS.has(word.toLowerCase()) ? 'command' : null
}

/** In quotation marks that the text itself cannot end. */
export function quoted(text: string): string {
  return `“${text.replace(/[“”„"]/g, "'")}”`
}

/** A choice that somebody else made: in our own words it would be one of this project. */
const CHOICE = /\b(?:decided|decision|agreed|chose|opted|settled on|instead of|rather than|in favou?r of)\b/i

/** A sentence of somebody else: as a quotation if it is an order or a decision, else as it is. */
export function reportedSentence(source: string, sentence: string): string {
  return findDirective(sentence) === null && !CHOICE.test(withoutQuotations(sentence))
    ? sentence
    : `${source}: ${quoted(sentence)}`
}

/** A name that may be chosen by others, of a file, a project or a tool: one that reads like an order is a quotation. */
export function quotedName(name: string): string {
  const directives = name.split(/[/\\?#&=]+/).map((part) => findDirective(part.replace(/[-_.+\s]+/g, ' ')))
  const isOrder = directives.includes('rule') || (directives.includes('command') && /\s/.test(name.trim()))
  return isOrder ? quoted(name) : name
}

interface Spoken {
  saidBy: Speaker | null
  /** Written as it is, not composed by an observer about what was done. */
  isFree: boolean
}

/** A decision, and a note of `remember`, are written as they are. */
export function speakerOf({ saidBy, saidIn, type }: Pick<Observation, 'saidBy' | 'saidIn' | 'type'>): Spoken {
  return { saidBy: saidBy ?? null, isFree: type === 'decision' || (saidIn ?? null) !== null }
}

/** What the agent writes freely: the parts of a summary. */
export const AGENT_WORDS: Spoken = { saidBy: 'agent', isFree: true }

const ORIGINS: Record<Speaker, string> = {
  person: 'the user said',
  agent: 'the agent said',
  tool: 'a program or file said',
  web: 'a web page said',
}

/** A quotation or an address in the agent's words: it may be repeating somebody else. */
const REPEATS_OTHERS = /["“”„«»]|:\/\//

/** `saidBy` null: unknown, as the agent. */
export function reportedText(text: string, { saidBy, isFree }: Spoken): string {
  const speaker = saidBy ?? 'agent'
  if (speaker === 'person') return text
  if (isReported(speaker)) return reportedSentence(ORIGINS[speaker], text)
  const directive = REPEATS_OTHERS.test(text) ? 'rule' : findDirective(text)
  // "Delete the old parser" is how an observer names what the agent did.
  if (directive === null || (directive === 'command' && !isFree)) return text
  return `${ORIGINS[speaker]}: ${quoted(text)}`
}

/** `Map<string>` in code is none. */
const TAG = /(?<![\w$])[<＜](?=[\p{L}!?/])([^<>＜＞\n]{1,200})[>＞]|[<＜](\/[^<>＜＞\n]{1,200})[>＞]/gu
const IMAGE = /!\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)/g
const LINK = /\[([^\]\n]{1,200})\]\((?:[a-z][a-z+.-]{0,20}:|\/\/)[^)\n]{0,500}\)/gi
const FENCES = /`{3,}|~{3,}/g
/** A heading, a quotation or a rule at the start of a line. */
const BLOCK_START = /^[ \t]{0,20}(?:(?:#{1,6}(?=[ \t])|>|={3,}|-{3,}|\*{3,}|_{3,})[ \t]{0,20}){1,20}/gm

/** Markup that a client or a reader of Markdown would interpret becomes plain characters. */
export function withoutMarkup(text: string): string {
  return text
    .replace(COMMENT, ' ')
    .replace(IMAGE, '$1')
    .replace(LINK, '$1')
    .replace(FENCES, "'")
    .replace(TAG, '‹$1$2›')
    .replace(BLOCK_START, '')
}
