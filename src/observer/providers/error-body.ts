/** What the body of a failed call says. Some servers repeat the request in it, and that says nothing about the failure. */

/** Names under which APIs say what went wrong. */
const TELLING = /^(?:error|errors|details?|message|msg|code|type|status|reason|metadata|raw|title|description)$/
const MAX_DEPTH = 8
/** Of one text: a sentence or two. */
const MAX_TEXT_CHARS = 1_000
/** Members of one list that are looked at. */
const MAX_MEMBERS = 20

/** The texts that tell what went wrong, each in quotes. A body that is no JSON is taken as it is. */
export function errorText(body: string): string {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return body.slice(0, MAX_TEXT_CHARS)
  }
  const texts: string[] = []
  const read = (part: unknown, depth: number): void => {
    if (typeof part === 'string' || typeof part === 'number') texts.push(`"${String(part).slice(0, MAX_TEXT_CHARS)}"`)
    if (typeof part !== 'object' || part === null || depth > MAX_DEPTH) return
    if (Array.isArray(part)) for (const item of part.slice(0, MAX_MEMBERS)) read(item, depth + 1)
    else for (const [name, member] of Object.entries(part)) if (TELLING.test(name)) read(member, depth + 1)
  }
  read(value, 0)
  return texts.join('\n')
}

/** What the server says in words; empty where it only repeats what it was sent. */
export function sentenceIn(body: string): string {
  try {
    return messageIn(JSON.parse(body)) ?? ''
  } catch {
    return plainText(body)
  }
}

/** `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, or a list of one of them. */
function messageIn(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return messageIn(value[0])
  if (typeof value !== 'object' || value === null) return null
  for (const name of ['error', 'message', 'detail', 'msg']) {
    const found = messageIn(Reflect.get(value, name))
    if (found === null || found === '') continue
    // OpenRouter says "Provider returned error" and hides what it was told beside it.
    const raw: unknown = Reflect.get(Object(Reflect.get(value, 'metadata')), 'raw')
    return typeof raw === 'string' ? `${found}: ${sentenceIn(raw)}` : found
  }
  return null
}

/** Characters of a page in which its first words stand; the patterns below need the square of it in time. */
const MAX_PAGE = 8_192

/** What a page says, without its markup. */
function plainText(body: string): string {
  if (!/^\s{0,64}</.test(body)) return body
  return body
    .slice(0, MAX_PAGE)
    .replace(/<(?:style|script)\b[\s\S]*?<\/(?:style|script)>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
}
