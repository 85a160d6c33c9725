/** What the daemon rendered last: a session starts with its memory even while the daemon is down. */
import { join } from 'node:path'
import { shortHash } from '../paths.ts'
import type { Settings } from '../settings.ts'
import { readText } from './io.ts'
import { parsePayload } from './payload.ts'
import { type Said, said } from './said.ts'

type Wanted = Pick<Settings, 'CLAUDE_MEM_CONTEXT_TOKENS' | 'CLAUDE_MEM_CONTEXT_MESSAGE'>

/** What somebody has switched off since is not given: no daemon may have run in between. */
export function renderedContext(directory: string, project: string, settings: Wanted): Said {
  const { context, message } = kept(directory, project)
  return {
    context: settings.CLAUDE_MEM_CONTEXT_TOKENS === 0 ? null : context,
    message: settings.CLAUDE_MEM_CONTEXT_MESSAGE === 'off' ? null : message,
  }
}

/** Older daemons left the bare text. A file that cannot be understood is as good as none. */
function kept(directory: string, project: string): Said {
  const file = join(directory, shortHash(project))
  const json = readText(`${file}.json`)
  if (json === undefined) return { context: readText(`${file}.txt`) || null, message: null }
  const { v, context, message } = parsePayload(json) ?? {}
  return v === 1 ? { context: said(context), message: said(message) } : { context: null, message: null }
}
