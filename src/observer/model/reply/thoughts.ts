/** Which elements of a reply are its answer, and which were only thought of. */
import type { Element } from './element.ts'
import type { Elements } from './read.ts'

export interface Readings {
  spoken: Element[]
  /** With what seems to be a thought whose beginning is missing, for where nothing else is there; null for none. */
  all: Element[] | null
}

export function readings(reply: string, { elements, thoughtUntil, thoughtFrom }: Elements): Readings {
  const whole = thoughtFrom === null ? elements : withoutTornThought(reply, elements, thoughtFrom)
  const spoken = whole.filter((element) => element.start >= thoughtUntil)
  return { spoken, all: spoken.length === whole.length ? null : whole }
}

/**
 * A thought without its end was cut off with all that it quotes. Where the reply ends in whole elements, though, only
 * the closing tag was forgotten, and they are the answer.
 */
function withoutTornThought(reply: string, elements: readonly Element[], from: number): Element[] {
  let first = elements.length
  let until = reply.length
  for (let element = elements[first - 1]; element?.closed === true; element = elements[first - 1]) {
    if (element.start < from || hasWords(reply.slice(element.end, until))) break
    until = element.start
    first--
  }
  return elements.filter((element, index) => element.start < from || index >= first)
}

const TAG_OR_FENCE = /<[^<>]{1,100}>|```\w*/g

function hasWords(text: string): boolean {
  return /\p{L}/u.test(text.replace(TAG_OR_FENCE, ''))
}
