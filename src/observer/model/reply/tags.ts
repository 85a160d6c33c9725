/**
 * The tags of a model's reply. Only the tags of the grammar give structure; every other tag is text. One pass finds the
 * known tags and links each to the next one of its name, so that the reader looks ahead without searching: linear time.
 *
 * Not htmlparser2: it swallows what follows an unfinished tag, comment or CDATA section (9 of 191 reply tests fail), and
 * an adapter that repairs this is not shorter than the 70 lines that read a tag here.
 */

/** Each tag by its role, with its spellings: lower case, without hyphens, underscores and dots. */
const GRAMMAR = {
  root: {
    observation: 'observation',
    summary: 'summary sessionsummary',
    skip: 'skip skipobservation',
    skip_summary: 'skipsummary',
  },
  text: {
    type: 'type',
    title: 'title',
    subtitle: 'subtitle',
    narrative: 'narrative description text',
    from: 'from',
    supersedes: 'supersedes',
    amends: 'amends amend',
    status: 'status',
    request: 'request',
    investigated: 'investigated',
    learned: 'learned',
    completed: 'completed',
    next_steps: 'nextsteps nextstep',
    notes: 'notes note',
  },
  list: {
    facts: 'facts',
    concepts: 'concepts',
    files_read: 'filesread',
    files_modified: 'filesmodified filesedited fileschanged',
    functions_changed: 'functionschanged functions',
  },
  item: { fact: 'fact', concept: 'concept', file: 'file path', function: 'function', item: 'item li' },
  /** Inside a function. */
  part: { name: 'name', action: 'action' },
  thought: { thought: 'think thinking thought thoughts reasoning' },
  /** `<resolved ids="23 24"/>`: beside the elements or inside of one. */
  mark: { resolved: 'resolved' },
  /** Around a whole reply. */
  wrapper: { wrapper: 'observations response reply answer output result results' },
} as const

type Grammar = typeof GRAMMAR
type TagRole = { [R in keyof Grammar]: { role: R; name: keyof Grammar[R] } }[keyof Grammar]
export type RootName = keyof Grammar['root']
export type TextName = keyof Grammar['text']
export type ListName = keyof Grammar['list']
type ItemName = keyof Grammar['item']

const ROLES = new Map<string, TagRole>()
for (const [role, names] of Object.entries(GRAMMAR)) {
  for (const [name, spellings] of Object.entries<string>(names)) {
    for (const spelling of spellings.split(' ')) ROLES.set(spelling, { role, name } as TagRole)
  }
}

/** The items that a list takes; every list takes a plain `item` too. */
export const ITEM_OF_LIST: Record<ListName, ItemName> = {
  facts: 'fact',
  concepts: 'concept',
  files_read: 'file',
  files_modified: 'file',
  functions_changed: 'function',
}

/** The list of an item outside any list; a plain `item` belongs to none. */
export const LIST_OF_ITEM: Record<ItemName, ListName | null> = {
  fact: 'facts',
  concept: 'concepts',
  file: 'files_read',
  function: 'functions_changed',
  item: null,
}

const normalize = (written: string): string => written.toLowerCase().replace(/[-_.]/g, '')

/** A namespace prefix is ignored. */
function roleOf(written: string): TagRole | null {
  return ROLES.get(normalize(written.slice(written.lastIndexOf(':') + 1))) ?? null
}

/** Names in lower case, without hyphens and underscores. */
export type Attributes = ReadonlyMap<string, string>

export type Tag = TagRole & {
  form: 'open' | 'close' | 'empty'
  attributes: Attributes
  /** Index of `<`, and of the text after the tag. */
  start: number
  end: number
  /** Index in the list of tags of the next tag of this name that opens, or closes; null if there is none. */
  nextOpen: number | null
  nextClose: number | null
  /** Index of the next root that opens after a root was closed: no field extends past it. */
  nextRoot: number | null
}

const CDATA = '<![CDATA['
const CDATA_END = ']]>'
const NO_ATTRIBUTES: Attributes = new Map()

/** A longer tag was never closed; a reason or a path fits well into it. */
const MAX_TAG_CHARS = 4_096

const SPACE = /\s*/y
const SHORT_SPACE = /\s{0,16}/y
const TAG_NAME = /[A-Za-z_][\w.:-]{0,63}/y
const ATTRIBUTE_NAME = /[^\s=<>/"']{1,64}/y
const BARE_VALUE = /[^\s<>"'`]{1,1024}/y

/** The index after the match of a sticky pattern at `at`; `at` if there is none. */
export function skipPattern(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

export function scanTags(reply: string): Tag[] {
  const tags: Tag[] = []
  const cdata = new ForwardSearch(reply, CDATA)
  const cdataEnd = new ForwardSearch(reply, CDATA_END)
  for (let at = reply.indexOf('<'); at >= 0; at = reply.indexOf('<', at)) {
    const tag = readTag(reply, at)
    if (tag === null || isMention(reply, tag)) {
      at++
      continue
    }
    tags.push(tag)
    at = tag.form === 'open' && tag.role !== 'root' ? skipCdata(reply, tag.end, cdata, cdataEnd) : tag.end
  }
  linkTags(tags)
  return tags
}

function readTag(reply: string, start: number): Tag | null {
  const closing = reply[start + 1] === '/'
  const nameStart = skipPattern(SHORT_SPACE, reply, start + (closing ? 2 : 1))
  const nameEnd = skipPattern(TAG_NAME, reply, nameStart)
  const role = nameEnd === nameStart ? null : roleOf(reply.slice(nameStart, nameEnd))
  if (role === null) return null
  const rest = readTagRest(reply, nameEnd)
  if (rest === null) return null
  const links = { nextOpen: null, nextClose: null, nextRoot: null }
  if (closing) return { ...role, form: 'close', attributes: NO_ATTRIBUTES, start, end: rest.end, ...links }
  // `a < title b >` is a comparison; `< title >` is a tag.
  if (nameStart > start + 1 && (rest.attributes.size > 0 || rest.end === nameEnd)) return null
  return { ...role, form: rest.empty ? 'empty' : 'open', attributes: rest.attributes, start, end: rest.end, ...links }
}

/** What follows a tag's name. Null if the reply ends before the tag. A tag that another one interrupts ends at its name. */
function readTagRest(reply: string, from: number): { attributes: Attributes; empty: boolean; end: number } | null {
  const attributes = new Map<string, string>()
  const limit = Math.min(reply.length, from + MAX_TAG_CHARS)
  let at = from
  while (at < limit) {
    at = skipPattern(SPACE, reply, at)
    const char = reply[at]
    if (char === undefined) return null
    if (char === '>') return { attributes, empty: false, end: at + 1 }
    if (char === '/' && reply[at + 1] === '>') return { attributes, empty: true, end: at + 2 }
    if (char === '<') return { attributes: NO_ATTRIBUTES, empty: false, end: from }
    const nameEnd = skipPattern(ATTRIBUTE_NAME, reply, at)
    if (nameEnd === at) {
      at++
      continue
    }
    const name = reply.slice(at, nameEnd).toLowerCase().replace(/[-_]/g, '')
    const value = readAttributeValue(reply, nameEnd)
    if (value === null) return null
    if (!attributes.has(name)) attributes.set(name, decodeEntities(value.text))
    at = value.end
  }
  return null
}

/** In double or single quotes, or bare. Null if the quote is never closed. */
function readAttributeValue(reply: string, from: number): { text: string; end: number } | null {
  const equals = skipPattern(SPACE, reply, from)
  if (reply[equals] !== '=') return { text: '', end: from }
  const start = skipPattern(SPACE, reply, equals + 1)
  const quote = reply[start]
  if (quote === '"' || quote === "'") {
    // Searched in a slice: a reply full of single quotes would take quadratic time.
    const length = reply.slice(start + 1, start + MAX_TAG_CHARS).indexOf(quote)
    return length < 0 ? null : { text: reply.slice(start + 1, start + 1 + length), end: start + length + 2 }
  }
  let end = skipPattern(BARE_VALUE, reply, start)
  if (reply[end - 1] === '/' && reply[end] === '>') end--
  return { text: reply.slice(start, end), end }
}

/** A tag in backticks is mentioned, not used, unless it has attributes as a skip has. */
function isMention(reply: string, tag: Tag): boolean {
  if (tag.attributes.size > 0) return false
  return reply[tag.start - 1] === '`' && reply[tag.end] === '`' && reply[tag.start - 2] !== '`'
}

/** The index after the CDATA sections that a field begins with, whatever tags they contain. */
function skipCdata(reply: string, from: number, cdata: ForwardSearch, cdataEnd: ForwardSearch): number {
  let at = from
  for (;;) {
    const open = skipPattern(SHORT_SPACE, reply, at)
    if (!reply.startsWith(CDATA, open)) return at
    const end = cdataEnd.from(open)
    const another = cdata.from(open + CDATA.length)
    // A section in which another one begins was never closed.
    if (end < 0 || (another >= 0 && another < end)) return at
    at = end + CDATA_END.length
  }
}

/** Backwards, so that each tag sees what follows it. */
function linkTags(tags: readonly Tag[]): void {
  const opens = new Map<string, number>()
  const closes = new Map<string, number>()
  let rootOpen: number | null = null
  let nextRoot: number | null = null
  for (let index = tags.length - 1; index >= 0; index--) {
    const tag = tags[index]
    if (tag === undefined) continue
    tag.nextOpen = opens.get(tag.name) ?? null
    tag.nextClose = closes.get(tag.name) ?? null
    tag.nextRoot = nextRoot
    if (tag.form === 'open') opens.set(tag.name, index)
    if (tag.form === 'close') closes.set(tag.name, index)
    if (tag.name !== 'observation' && tag.name !== 'summary') continue
    if (tag.form === 'open') rootOpen = index
    if (tag.form === 'close') nextRoot = rootOpen
  }
}

/** `indexOf` for growing positions: a known result is not searched for again. */
export class ForwardSearch {
  #from = -1
  #found = -1

  constructor(
    readonly text: string,
    readonly needle: string,
  ) {}

  from(at: number): number {
    const known = this.#from >= 0 && at >= this.#from && (this.#found < 0 || this.#found >= at)
    if (!known) {
      this.#found = this.text.indexOf(this.needle, at)
      this.#from = at
    }
    return this.#found
  }
}

const NAMED_ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' }
const ENTITY = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos|nbsp));/gi

/** Decodes once: `&amp;lt;` is the text `&lt;`. Unknown entities stay. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, hex: string | undefined, decimal: string | undefined, name?: string) => {
    if (name !== undefined) return NAMED_ENTITIES[name.toLowerCase()] ?? whole
    const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : whole
  })
}

/** Decodes entities outside CDATA sections. A section without its end extends to the end. */
export function decodeMarkup(raw: string): string {
  let result = ''
  let at = 0
  for (let open = raw.indexOf(CDATA); open >= 0; open = raw.indexOf(CDATA, at)) {
    const end = raw.indexOf(CDATA_END, open)
    result += decodeEntities(raw.slice(at, open)) + raw.slice(open + CDATA.length, end < 0 ? raw.length : end)
    at = end < 0 ? raw.length : end + CDATA_END.length
  }
  return result + decodeEntities(raw.slice(at))
}

/** Longer than any tag with attributes that a model writes. */
const MAX_TORN_CHARS = 1_000
/** An attribute may contain brackets: `name="get<K, V`. */
const MAX_TORN_BRACKETS = 4

const TORN_NAME = /^<\/?([A-Za-z][\w-]{0,40})?$/
const TORN_ATTRIBUTES =
  /^<([A-Za-z][\w-]{0,40})(?:\s+[\w:-]{1,64}\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(?:\/|[\w:-]{1,64}(?:\s*=\s*(?:"[^"]*|'[^']*)?)?)?$/

/** The text at the end of a cut-off reply, without an unfinished tag and without the end of a fence around the reply. */
export function withoutTornEnd(raw: string): string {
  const text = withoutTornTag(raw).trimEnd()
  const fences = text.match(/^[ \t]{0,3}```/gm)?.length ?? 0
  return text.endsWith('\n```') && fences % 2 === 1 ? text.slice(0, -3) : text
}

function withoutTornTag(raw: string): string {
  const tail = raw.slice(-MAX_TORN_CHARS)
  let bracket = tail.lastIndexOf('<')
  for (let count = 0; bracket >= 0 && count < MAX_TORN_BRACKETS; count++) {
    if (isTornTag(tail.slice(bracket))) return raw.slice(0, raw.length - tail.length + bracket)
    bracket = bracket === 0 ? -1 : tail.lastIndexOf('<', bracket - 1)
  }
  return raw
}

function isTornTag(text: string): boolean {
  const name = TORN_NAME.exec(text)
  if (name !== null) {
    const start = normalize(name[1] ?? '')
    return [...ROLES.keys()].some((known) => known.startsWith(start))
  }
  const written = TORN_ATTRIBUTES.exec(text)?.[1]
  return written !== undefined && roleOf(written) !== null
}
