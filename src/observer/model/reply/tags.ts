/** Finds the tags of a model's reply in one pass. Only the names of the grammar are tags; everything else is text. */

/** The names by role, each with its other spellings behind `=`. */
const GRAMMAR = {
  root: 'observation summary=session_summary skip=skip_observation skip_summary',
  text:
    'type title subtitle narrative=description=text from supersedes amends=amend resolved status ' +
    'request investigated learned completed next_steps=next_step notes=note',
  list: 'facts concepts files_read files_modified=files_edited=files_changed functions_changed=functions',
  /** The name of a list begins with the name of its items; `item` may be in every list. */
  item: 'fact concept file=path function item=li=entry',
  thought: 'think=thinking=thought=thoughts=reasoning',
  /** Around a whole reply. */
  wrapper: 'observations response reply answer output result results',
}

type Role = keyof typeof GRAMMAR

/** Upper and lower case, hyphens, underscores and dots make no difference. */
const plainName = (written: string): string => written.toLowerCase().replace(/[-_.]/g, '')

const KNOWN = new Map<string, { role: Role; name: string }>()
for (const role of Object.keys(GRAMMAR) as Role[]) {
  for (const spellings of GRAMMAR[role].split(' ').map((names) => names.split('='))) {
    for (const spelling of spellings) KNOWN.set(plainName(spelling), { role, name: spellings[0] ?? '' })
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
  /** In the list of tags. */
  index: number
  /** The tag that closes it; null if there is none, or if the same tag opens again before. */
  close: Tag | null
}

/** A comment, or CDATA, at the start of a line or after a tag. Elsewhere its marks are only mentioned. */
const SECTION = /(?<=(?:^|[\n>])\s{0,16})<!(?:\[CDATA\[((?:(?!<!\[CDATA\[)[\s\S])*?)\]\]>|--(?:(?!<!--)[\s\S])*?-->)/g
/** A tag at the end of a reply that was cut off inside of it. */
const TORN_TAG = /^<\/?(?:[a-z][\w-]*(?:\s+[\w-]+(?:\s*=[^<>]*)?)?\s*)?$/i
/** A longer tag was never closed. */
const MAX_TAG_CHARS = 2_048

/** Without the fence around it, what was cut off in a tag, and tags in sections. */
export function prepareReply(reply: string): string {
  const text = reply
    .replace(SECTION, (section, cdata = section) => cdata.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
    .replaceAll('<![CDATA[', '')
  const isFenced = /^[^<]*```/.test(text) && text.trimEnd().endsWith('\n```')
  const whole = isFenced ? text.trimEnd().slice(0, -3) : text
  const last = whole.lastIndexOf('<')
  return last >= 0 && TORN_TAG.test(whole.slice(last, last + MAX_TAG_CHARS)) ? whole.slice(0, last) : whole
}

const NAMES = [...KNOWN.keys()].map((name) => [...name].join('[-_.]?')).join('|')
/** Brackets may stand between quotes, unless the quotes do not match. A tag that another one interrupts ends at its name. */
const TAG_REST = String.raw`(?:[^<>=]|=\s{0,8}(?:"[^"\n]{0,2048}"|'[^'\n]{0,2048}'|(?=[^\s"']))){0,2048}>|[^<>]{0,2048}>|(?=[^<>]{0,2048}<)`
/** A namespace prefix is ignored. */
const TAG = new RegExp(String.raw`<(/?)\s{0,16}(?:\w{1,32}:)?(${NAMES})(?![\w.-])(${TAG_REST})`, 'gi')
const ATTRIBUTE = /([\w:-]{1,64})\s{0,8}=\s{0,8}(?:"([^"]*)|'([^']*)|([^\s"'>]+?)(?=\s|\/?>))/g

export function scanTags(text: string): Tag[] {
  const tags: Tag[] = []
  for (const { 0: whole, 1: slash, 2: name = '', 3: rest = '', index: start } of text.matchAll(TAG)) {
    const known = KNOWN.get(plainName(name))
    const end = start + whole.length
    const form = slash === '/' ? 'close' : rest.endsWith('/>') ? 'empty' : 'open'
    const attributes = readAttributes(form === 'close' ? '' : rest)
    // A tag in backticks is mentioned, not used, unless it has attributes as a skip has.
    const isMention = attributes.size === 0 && /^[^`]?`$/.test(text.slice(start - 2, start)) && text[end] === '`'
    if (known !== undefined && !isMention) {
      tags.push({ ...known, form, attributes, start, end, index: tags.length, close: null })
    }
  }
  for (const tag of tags) tag.close = closingTag(tags, tag)
  return tags
}

/** The next one of its name, if that closes. A list that contains another complete list was closed too late. */
function closingTag(tags: readonly Tag[], { role, name, form, index }: Tag): Tag | null {
  if (form !== 'open') return null
  const formAt = (at: number) => (tags[at]?.name === name ? tags[at].form : null)
  let at = index + 1
  let isLate = false
  for (; at < tags.length && formAt(at) !== 'close' && formAt(at) !== 'open'; at++) {
    isLate ||= role === 'list' && tags[at]?.role === 'list' && tags[at - 1]?.form === 'close'
  }
  // A text may mention its own tag once, or its opening and closing tag.
  const isMention = role === 'text' && at === index + 1 && formAt(at) === 'open' && formAt(at + 1) === 'close'
  if (isMention) at += formAt(at + 2) === 'close' ? 2 : 1
  return formAt(at) === 'close' && !isLate ? (tags[at] ?? null) : null
}

function readAttributes(inside: string): Attributes {
  const written = [...inside.matchAll(ATTRIBUTE)]
  return new Map(
    written.map(([, name = '', ...values]) => [plainName(name), decodeEntities(values.find(Boolean) ?? '')]),
  )
}

const NAMED_ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' }
const ENTITY = /&(#x[\da-f]{1,6}|#\d{1,7}|lt|gt|amp|quot|apos|nbsp);/gi

/** Decodes once: `&amp;lt;` is the text `&lt;`. Unknown entities stay. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, name: string) => {
    const code = Number(`0${name.slice(1)}`)
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return NAMED_ENTITIES[name.toLowerCase()] ?? (isCharacter ? String.fromCodePoint(code) : whole)
  })
}
