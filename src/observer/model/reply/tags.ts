/** Finds the tags of a model's reply in one pass. Only the names of the grammar are tags; everything else is text. */
import { decodeText } from './values.ts'

/** The names by role, each with its other spellings behind `=`. */
const GRAMMAR = {
  root: 'observation summary=sessionsummary skip=skipobservation skip_summary',
  text:
    'type title subtitle narrative=description=text from supersedes amends=amend status ' +
    'request investigated learned completed next_steps=nextstep notes=note',
  /** The name of a list begins with the name of its items; `item` may be in every list. */
  list: 'facts concepts files_read files_modified=filesedited=fileschanged functions_changed=functions',
  item: 'fact concept file=path function item=li',
  thought: 'think=thinking=thought=thoughts=reasoning',
  /** `<resolved ids="23 24"/>`: beside the elements or inside of one. */
  mark: 'resolved',
  /** Around a whole reply. */
  wrapper: 'observations response reply answer output result results',
}

type Role = keyof typeof GRAMMAR

/** Upper and lower case, hyphens, underscores and dots make no difference. */
const plainName = (written: string): string => written.toLowerCase().replace(/[-_.]/g, '')

const KNOWN = new Map<string, { role: Role; name: string }>()
for (const role of Object.keys(GRAMMAR) as Role[]) {
  for (const spellings of GRAMMAR[role].split(' ')) {
    const [name = '', ...others] = spellings.split('=')
    for (const spelling of [plainName(name), ...others]) KNOWN.set(spelling, { role, name })
  }
}

/** By plain name. */
export type Attributes = ReadonlyMap<string, string>

export interface Tag {
  role: Role
  name: string
  form: 'open' | 'close' | 'empty'
  attributes: Attributes
  /** Index of `<`, and of the text after the tag. */
  start: number
  end: number
  /** Its index in the list of tags, and the index of the tag that closes it; null if none does. */
  index: number
  close: number | null
}

/** A longer tag was never closed. */
const MAX_TAG_CHARS = 2_048

/** A namespace prefix is ignored. */
const TAG_START = /<(\/?)(\s{0,16})(?:\w{1,32}:)?([a-z_][\w.-]{0,31})/gi
/** Brackets may stand between quotes, unless the quotes do not match. */
const TAG_REST = /^(?:[^<>=]|=\s{0,8}(?:"[^"\n]*"|'[^'\n]*'|(?=[^\s"'])))*>|^[^<>]*>/
const ATTRIBUTE = /([\w:-]{1,64})\s{0,8}=\s{0,8}(?:"([^"]*)|'([^']*)|([^\s"'>]+?)(?=\s|\/?>))/g

export function scanTags(text: string): Tag[] {
  const tags: Tag[] = []
  TAG_START.lastIndex = 0
  for (let match = TAG_START.exec(text); match !== null; match = TAG_START.exec(text)) {
    const tag = readTag(text, match)
    if (tag === null || isMention(text, tag)) continue
    tags.push({ ...tag, index: tags.length })
    TAG_START.lastIndex = tag.end
  }
  linkTags(tags)
  return tags
}

function readTag(
  text: string,
  { 0: begin, 1: slash, 2: space, 3: written = '', index: start }: RegExpExecArray,
): Tag | null {
  const known = KNOWN.get(plainName(written))
  if (known === undefined) return null
  const nameEnd = start + begin.length
  const rest = text.slice(nameEnd, nameEnd + MAX_TAG_CHARS)
  // A tag that another one interrupts ends at its name.
  const inside = TAG_REST.exec(rest)?.[0] ?? (/^[^<>]*</.test(rest) ? '' : null)
  // `a < title b >` is a comparison; `< title >` is a tag.
  if (inside === null || (space !== '' && !/^\s*\/?>$/.test(inside))) return null
  const form = slash === '/' ? 'close' : inside.endsWith('/>') ? 'empty' : 'open'
  const attributes = readAttributes(form === 'close' ? '' : inside)
  return { ...known, form, attributes, start, end: nameEnd + inside.length, index: -1, close: null }
}

function readAttributes(inside: string): Attributes {
  const attributes = new Map<string, string>()
  for (const [, name = '', double, single, bare = ''] of inside.matchAll(ATTRIBUTE)) {
    const key = plainName(name)
    if (!attributes.has(key)) attributes.set(key, decodeText(double ?? single ?? bare))
  }
  return attributes
}

/** A tag in backticks is mentioned, not used, unless it has attributes as a skip has. */
function isMention(text: string, { attributes, start, end }: Tag): boolean {
  return attributes.size === 0 && text[start - 1] === '`' && text[end] === '`' && text[start - 2] !== '`'
}

/** Backwards, so that each tag sees what follows it. */
function linkTags(tags: readonly Tag[]): void {
  const opens = new Map<string, number>()
  const closes = new Map<string, number>()
  for (const [index, tag] of [...tags.entries()].reverse()) {
    const open = opens.get(tag.name) ?? tags.length
    const close = closes.get(tag.name) ?? null
    if (tag.form === 'close') closes.set(tag.name, index)
    if (tag.form !== 'open') continue
    opens.set(tag.name, index)
    if (close === null || open > close || tag.role === 'thought') tag.close = close
    // A text may mention its own tag once, or its opening and closing tag.
    else if (tag.role === 'text' && open === index + 1 && close === index + 2) {
      const next = tags[index + 3]
      tag.close = next?.name === tag.name && next.form === 'close' ? index + 3 : close
    }
  }
}

/** Without a tag that the end of the reply cuts off. */
export function withoutTornTag(text: string): string {
  const start = text.lastIndexOf('<')
  const [, written = '', rest = ''] = /^<\/?([a-z][\w-]*)?(.*)$/is.exec(text.slice(start, start + MAX_TAG_CHARS)) ?? []
  const name = plainName(written)
  const isTorn =
    rest === ''
      ? [...KNOWN.keys()].some((known) => known.startsWith(name))
      : KNOWN.has(name) && !rest.includes('>') && /^\s*\/?$|^\s+[\w-]+(?:$|\s*=)/.test(rest)
  return start >= 0 && isTorn ? text.slice(0, start) : text
}
