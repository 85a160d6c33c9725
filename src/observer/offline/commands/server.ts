/** Servers: where they listen, or why they could not. */

import { unique } from '../text.ts'
import type { Output } from './output.ts'
import { fault, type Reader, reading } from './reading.ts'

const LISTENS = /listen|running (?:on|at)|ready|\blocal:|started|serving|available|server|bound to|accessible|➜/i
const URL =
  /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|\d+\.\d+\.\d+\.\d+|[\w.-]+\.local(?:host)?)(?::\d{2,5})?/i
const PORT = /(?:listening|started|running|ready|serving|server).{0,60}?\bport(?:\(s\))?:? ?(\d{2,5})/i
const ADDRESS =
  /(?:listening|running|serving|bound).{0,40}?(?:on|at|to) (?:http:\/\/)?((?:localhost|\d+\.\d+\.\d+\.\d+|\*|\[::\]|::)?:\d{2,5})\b/i
const TAKEN =
  /(?:address already in use|EADDRINUSE|port is already allocated|port \d+ is (?:already )?in use)[^\d]{0,40}?:?(\d{2,5})?\b/i

export const readServer: Reader = (run, out) => {
  const taken = out.lines.find((line) => TAKEN.test(line))
  if (taken !== undefined) {
    const port = /:(\d{2,5})\b/.exec(taken)?.[1] ?? /\b(?:port )(\d{2,5})\b/i.exec(taken)?.[1]
    const said = port === undefined ? 'address already in use' : `port ${port} is already in use`
    return reading({
      headline: said,
      failed: run.kind === 'server',
      faults: [fault(taken.trim())],
      facts: [`${said[0]?.toUpperCase()}${said.slice(1)} (${run.shown})`],
    })
  }
  const places = unique(listening(out)).slice(0, 3)
  if (places.length === 0) return null
  return reading({
    headline: `listens on ${places.join(', ')}`,
    facts: places.map((place) => `Server listens on ${place}`),
  })
}

function listening(out: Output): string[] {
  return out.lines.flatMap((line) => {
    if (!LISTENS.test(line)) return []
    const url = URL.exec(line)?.[0]
    if (url !== undefined) return [url]
    const port = PORT.exec(line)?.[1]
    if (port !== undefined) return [`port ${port}`]
    return ADDRESS.exec(line)?.[1] ?? []
  })
}
