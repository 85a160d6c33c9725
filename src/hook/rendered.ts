/** What the daemon rendered last: a session starts with its memory even while the daemon is down. */
import { join } from 'node:path'
import { shortHash } from '../paths.ts'
import { readText } from './io.ts'
import { parsePayload } from './payload.ts'
import { type Said, said } from './said.ts'

/** Older daemons left the bare text. A file that cannot be understood is as good as none. */
export function renderedContext(directory: string, project: string): Said {
  const file = join(directory, shortHash(project))
  const json = readText(`${file}.json`)
  if (json === undefined) return { context: readText(`${file}.txt`) || null, message: null }
  const { v, context, message } = parsePayload(json) ?? {}
  return v === 1 ? { context: said(context), message: said(message) } : { context: null, message: null }
}
