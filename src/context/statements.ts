/**
 * What a message says, as statements that can be read alone: a sentence with those that refer to it, a lead-in with the
 * items of its list, a row of a table with its header. Greetings, announcements, questions and proposals are none.
 * Everything is linear in the length of the text.
 */
import { plainText } from '../domain/plain-text.ts'
import { ownWords } from '../domain/reported-speech.ts'
import { sentencesOf } from '../domain/sentences.ts'
import { trimEndMatching } from '../lib/trim.ts'
import { STOP_WORDS } from '../lib/words.ts'

/** Characters of a message that are read; its end has the results. */
const MAX_MESSAGE_CHARS = 12_000
const MAX_LINE_CHARS = 1_200
/** Most characters of a statement. Longer lists become several, each with the lead-in. */
const MAX_STATEMENT_CHARS = 320
const MAX_LEAD_CHARS = 90
/** Least number of words of a statement that names something, and of one that does not; the latter needs some of weight. */
const MIN_WORDS = 3
const MIN_PLAIN_WORDS = 6
const MIN_PLAIN_TERMS = 3

const PICTOGRAPHS = /\p{Extended_Pictographic}|\u2713|\u2717|\ufe0f|\u20e3/gu
const LIST_MARK = /^\s*(?:[-*•–]|\d{1,2}[.)]|\*{0,2}[\p{Extended_Pictographic}\u2713\u2717]\ufe0f?)\s+/u
const HEADING = /^\s{0,3}#{1,6}\s+/
const RULE_LINE = /^\s*(?:[-=_*]\s?){3,}$/
const TABLE_ROW = /^\s*\|.*\|\s*$/
const TABLE_RULE = /^[\s|:-]+$/

/** A line of a code block whose fences are lost. */
const CODE_LINE =
  /^(?:\/\/|\/\*|#include|func |def |class |const |let |var |import |export |return\b|if \(|for \(|[{}()[\]]|"[\w-]{1,60}":|\w{1,40} :?= |[├└│])|[{};]$/

/** It refers to the sentence before it. */
const REFERS_BACK =
  /^(?:this|that|these|those|it|its|they|them|their|he|she|so|but|however|also|and|then|instead|otherwise|because|which|the (?:same|former|latter|other|second|first|fix|solution|result|problem|issue))\b/i
/** It announces, asks or offers; what it is about comes later, or never. */
const ANNOUNCES =
  /^(?:(?:ok|okay|great|perfect|excellent|good|nice|sure|yes|no|right|done|now|so|and|alright|got it|i see|found it|absolutely|sorry)\b[\s,.!:–—-]*)*(?:let me|let's|let’s|i(?:'|’)?ll|i will|i(?:'|’)?d|i would|i can|i could|i(?:'|’)?m going|we can|we could|we should|want me|would you|should i|shall i|do you|could you|can you|please|feel free|here(?:'|’)?s|here is|here are|below|to summari[sz]e|in summary|looking at|now i|thanks?|thank you|happy to|next)\b/i
const PROPOSES =
  /\b(?:options?|alternatives?|proposals?|suggestions?|possible|possibilit\w+|recommend\w*|would you|do you|want me|should i|shall i|choose|prefer|consider|could|might|questions?|example|e\.g|such as|pros|cons|benefits?|trade-?offs?|ideas?|challenges?|approach(?:es)?|strateg(?:y|ies)|thoughts?|opportunit(?:y|ies)|why this)\b/i
const PLANS =
  /\b(?:next|remaining|to-?do|action items?|follow-?ups?|future|upcoming|left to do|still (?:open|to do)|plan)\b/i
const CELEBRATES =
  /^(?:success|perfect|excellent|great|done|complete[d]?|all (?:done|set|good|clean)|ready\b.*|final status|(?:current )?status|summary|overview|mission accomplished)[\s\p{P}]*$/iu

/** Statements of a message of the agent, in their order; whether one says enough is decided by `hasSubstance`. */
export function messageStatements(message: string): string[] {
  const reader = new StatementReader()
  const bounded = message.length <= MAX_MESSAGE_CHARS ? message : message.slice(-MAX_MESSAGE_CHARS)
  for (const line of ownWords(bounded, 'message').split('\n')) reader.read(line.slice(0, MAX_LINE_CHARS))
  return reader.end()
}

/** Sentences and list items of a text that was written as a summary, each with those that refer to it. */
export function summaryStatements(text: string): string[] {
  return summaryItems(text).filter(isStatement)
}

/** The same with announcements and questions, which next steps are. */
export function summaryItems(text: string): string[] {
  const items = text
    .split('\n')
    .flatMap((line) => sentencesOf(plainText(line.slice(0, MAX_LINE_CHARS).replace(LIST_MARK, ''))))
  const joined: string[] = []
  for (const item of items.filter((one) => one !== '')) {
    const last = joined.at(-1)
    if (last !== undefined && REFERS_BACK.test(item) && last.length + item.length < MAX_STATEMENT_CHARS) {
      joined[joined.length - 1] = `${last} ${item}`
    } else joined.push(item)
  }
  return joined
}

/** As many whole sentences as fit into `max` characters; the first one is cut at a word if it is longer. */
export function wholeSentences(text: string, max: number): { text: string; rest: string[] } {
  const [first = '', ...others] = sentencesOf(text)
  let taken = first
  let i = 0
  for (; i < others.length && taken.length + (others[i] ?? '').length < max; i++) taken += ` ${others[i]}`
  return { text: taken, rest: others.slice(i) }
}

class StatementReader {
  readonly #found: string[] = []
  #paragraph: string[] = []
  #items: string[] = []
  #lead = ''
  #tableHead: string[] | null = null

  read(line: string): void {
    const isRow = TABLE_ROW.test(line)
    if (!isRow) this.#tableHead = null
    const text = isRow || RULE_LINE.test(line) ? '' : cleanLine(line)
    if (isRow) this.#readRow(line)
    else if (RULE_LINE.test(line)) this.#endBlock('')
    else if (text === '' || CODE_LINE.test(text)) this.#endParagraph()
    else if (HEADING.test(line)) this.#endBlock(text)
    else if (LIST_MARK.test(line.replaceAll('**', ''))) {
      this.#endParagraph()
      this.#items.push(text)
    } else if (text.endsWith(':') && text.length <= MAX_LEAD_CHARS) this.#endBlock(text)
    else {
      if (this.#items.length > 0) this.#endBlock('')
      this.#paragraph.push(text)
    }
  }

  end(): string[] {
    this.#endBlock('')
    return this.#found
  }

  /** Cells after the first one belong to the columns of the header. */
  #readRow(line: string): void {
    this.#endParagraph()
    if (TABLE_RULE.test(line)) return
    const cells = line.trim().slice(1, -1).split('|').map(cleanLine)
    if (this.#tableHead === null) {
      this.#endItems()
      this.#tableHead = cells
      return
    }
    const [name = '', ...values] = cells
    const named = values.map((value, i) => {
      const column = this.#tableHead?.[i + 1] ?? ''
      return value === '' || column === '' ? value : `${column} ${value}`
    })
    this.#items.push(`${name}: ${named.filter((value) => value !== '').join(', ')}`)
  }

  #endBlock(lead: string): void {
    this.#endParagraph()
    this.#endItems()
    this.#lead = trimEndMatching(lead, /[\s:.!]/)
  }

  #endParagraph(): void {
    const sentences = sentencesOf(this.#paragraph.join(' '))
    this.#paragraph = []
    let last = ''
    for (const sentence of sentences) {
      const joined = `${last} ${sentence}`
      if (last !== '' && REFERS_BACK.test(sentence) && joined.length <= MAX_STATEMENT_CHARS) last = joined
      else {
        this.#add(last)
        last = isStatement(sentence) && !REFERS_BACK.test(sentence) ? sentence : ''
      }
    }
    this.#add(last)
  }

  #endItems(): void {
    const items = this.#items.filter((item) => !item.endsWith('?') && !ANNOUNCES.test(item) && !CELEBRATES.test(item))
    const lead = this.#lead
    if (this.#items.length > 0) this.#lead = ''
    this.#items = []
    if (PROPOSES.test(lead) || PLANS.test(lead) || lead.endsWith('?') || ANNOUNCES.test(lead)) return
    const prefix = lead === '' || CELEBRATES.test(lead) || lead.length > MAX_LEAD_CHARS ? '' : `${lead}: `
    let chunk = ''
    for (const item of items.map((one) => trimEndMatching(one, /[\s.;]/))) {
      if (chunk !== '' && prefix.length + chunk.length + item.length + 2 > MAX_STATEMENT_CHARS) {
        this.#add(prefix + chunk)
        chunk = ''
      }
      chunk = chunk === '' ? item : `${chunk}; ${item}`
    }
    if (chunk !== '') this.#add(prefix + chunk)
  }

  #add(text: string): void {
    if (text !== '') this.#found.push(text)
  }
}

function cleanLine(line: string): string {
  return plainText(
    line
      .replace(LIST_MARK, '')
      .replace(PICTOGRAPHS, '')
      .replaceAll('**', '')
      .replace(/\[[ x]\]\s/i, ''),
  )
}

function isStatement(sentence: string): boolean {
  return !/[?:？：]$/.test(sentence) && !ANNOUNCES.test(sentence) && !CELEBRATES.test(sentence)
}

/** Scripts that write a sentence as one word. */
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
/** About four words. */
const MIN_UNSPACED_CHARS = 8

/** It names something, or says enough about what it does not name. */
export function hasSubstance(text: string, terms: ReadonlyMap<string, number> = informativeTerms(text)): boolean {
  if (terms.size === 0) return false
  if (WITHOUT_SPACES.test(text)) return text.length >= MIN_UNSPACED_CHARS
  const words = text.split(' ').length
  const names = [...terms.values()].some((weight) => weight >= NAME_WEIGHT)
  return names ? words >= MIN_WORDS : words >= MIN_PLAIN_WORDS && terms.size >= MIN_PLAIN_TERMS
}

/** A request may be short, but names what it is about; "lets do 2" does not. */
export function isRequest(text: string): boolean {
  return (
    [...informativeTerms(text)].filter(([term]) => term.length > 1).reduce((sum, [, weight]) => sum + weight, 0) >= 3
  )
}

/** The agent does not know it, or does not say so. */
const HEDGES =
  /\b(?:probably|maybe|perhaps|might|may be|likely|possibly|presumably|i think|i guess|i believe|seems?|appears? to|should)\b/i

export function isHedged(text: string): boolean {
  return HEDGES.test(text)
}

/** A user's message that rejects what the agent said before it. */
const REJECTS =
  /^\W*(?:(?:ok|okay|hm+|uh+|um+|ah+|wait|sorry)\b[\s,.:!-]*)*(?:no\b(?! (?:problem|worries|need))|nope|wrong|not (?:quite|really|true|right)|that(?:'|’)?s (?:not|wrong)|this is (?:not|wrong)|actually|but\b|i thought|you (?:said|claimed|forgot|missed)|still\b|does(?:n(?:'|’)?t| not)|did(?:n(?:'|’)?t| not)|why (?:is|are|does|do|did)\b)/i

export function rejectsAnswer(prompt: string): boolean {
  return REJECTS.test(prompt.slice(0, 200))
}

/** A choice or a lasting rule in the words of a user, and not only what to do now. */
const CHOOSES =
  /\b(?:instead|rather|prefer|never|always|don(?:'|’)?t|do not|must(?:n(?:'|’)?t)?|should(?:n(?:'|’)?t)?|let(?:'|’)?s (?:use|go with|keep|stick|not|do)|go with|not just|only use|make sure|ensure|no need|need(?:s)? to be|explicitly|sounds (?:good|great|perfect)|i want|we want|avoid|keep the|leave the|without)\b/i

/** People write less at once; what is longer is mostly pasted, and only its beginning is the user's. */
const MAX_TYPED_CHARS = 900

/** It wants to talk about something first. */
const STARTS_TALK =
  /^(?:(?:ok|okay|so|now|well)\b[\s,.]*)*let'?s (?:think|look|see|talk|discuss|check|consider|explore)\b/i

/** Sentences of a prompt in which the user chooses or rules. */
export function choicesOf(prompt: string): string[] {
  const own = ownWords(prompt, 'prompt')
  const paragraphs = own.split(/\n\s*\n/)
  const typed = own.length <= MAX_TYPED_CHARS ? paragraphs : paragraphs.slice(0, 1)
  return typed
    .flatMap((paragraph) =>
      paragraph.length <= MAX_TYPED_CHARS ? paragraph.split(/\n(?=\s*(?:[-*•]|\d{1,2}[.)])\s)/) : [],
    )
    .flatMap((text) => sentencesOf(plainText(text.replace(LIST_MARK, ''))))
    .filter((sentence) => !sentence.endsWith('?') && CHOOSES.test(sentence) && hasSubstance(sentence))
    .filter((sentence) => sentence.length <= MAX_STATEMENT_CHARS && !STARTS_TALK.test(sentence))
}

/** A digit or a sign of code anywhere, a capital after a small letter, or two capitals at the beginning. */
const NAME = /[\d_/\\%#@$]|\w[.:-]\w|[a-z][A-Z]|^[A-Z]{2}/
export const NAME_WEIGHT = 2
/** Longer ones are no words. */
const MAX_TERM_CHARS = 80
/** Words that fit any work. */
const EMPTY_WORDS = new Set(
  `all also any best clean clear complete completed completely comprehensive correct correctly done final finally full fully good great
  improved issue issues new now perfect perfectly production proper properly ready robust success successful successfully
  ok systematic systematically thing things work working works yes everything file files code change changes changed update updated
  fix fixed add added using used use make made current status`.split(/\s+/),
)

/** Characters between words, and those that are cut off at the ends of a word but belong to it inside. */
const SEPARATORS = new Set([...'\t\n\r ,;()[]{}<>"`|!?=*~^&“”„«»‹›…，。；：、→'].map((sign) => sign.charCodeAt(0)))
const EDGES = new Set([...`.:/\\+'’-–—`].map((sign) => sign.charCodeAt(0)))
const PERIOD = 46
const [LOWER_A, LOWER_Z] = [97, 122]

/**
 * The words of a text that say what it is about, in lower case, with their weights: names and numbers count twice. Written
 * as a scan because it reads every text that may become a line.
 */
export function informativeTerms(text: string): Map<string, number> {
  const terms = new Map<string, number>()
  let start = 0
  let isPlain = true
  for (let i = 0; i <= text.length; i++) {
    const code = i === text.length ? PERIOD : text.charCodeAt(i)
    if (i < text.length && !SEPARATORS.has(code)) {
      isPlain &&= code >= LOWER_A && code <= LOWER_Z
      continue
    }
    if (i > start) addTerm(terms, text, start, i, isPlain)
    start = i + 1
    isPlain = true
  }
  return terms
}

function addTerm(terms: Map<string, number>, text: string, from: number, to: number, isPlain: boolean): void {
  let [start, end] = [from, to]
  if (!isPlain) {
    while (start < end && text.charCodeAt(start) !== PERIOD && EDGES.has(text.charCodeAt(start))) start++
    while (end > start && EDGES.has(text.charCodeAt(end - 1))) end--
  }
  if (end === start || end - start > MAX_TERM_CHARS) return
  const whole = text.slice(start, end)
  if (isPlain) {
    if (whole.length > 1 && !STOP_WORDS.has(whole) && !EMPTY_WORDS.has(whole)) terms.set(whole, 1)
    return
  }
  const term = whole.slice(Math.max(whole.lastIndexOf('/'), whole.lastIndexOf('\\')) + 1).toLowerCase()
  if ((term.length < 2 && !/\d/.test(term)) || STOP_WORDS.has(term) || EMPTY_WORDS.has(term)) return
  terms.set(term, term.length > 1 && NAME.test(whole) ? NAME_WEIGHT : 1)
}
