/** Before a file is read: what is known about it? Nothing of it is kept; a file that is not there has no question. */
import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { FileQuestion } from '../memory/file-question.ts'
import { projectOf } from '../memory/project.ts'
import type { Settings } from '../settings.ts'
import type { Payload } from './clients/client.ts'
import { isExcluded } from './excluded.ts'
import { directoryOf, name } from './payload.ts'

type QuestionSettings = Pick<Settings, 'CLAUDE_MEM_FILE_CONTEXT' | 'CLAUDE_MEM_EXCLUDED_PROJECTS'>

/** Null where there is nothing to ask. */
export function fileQuestion(payload: Payload, settings: QuestionSettings): FileQuestion | null {
  if (!settings.CLAUDE_MEM_FILE_CONTEXT || payload.tool_name !== 'Read') return null
  const session = name(payload.session_id)
  const given = name(inputOf(payload).file_path)
  if (session === '' || given === '') return null
  const cwd = directoryOf(payload)
  const file = isAbsolute(given) ? given : join(cwd, given)
  const changedAt = lastChange(file)
  if (changedAt === null) return null
  const project = projectOf(cwd)
  if (isExcluded(cwd, project, settings.CLAUDE_MEM_EXCLUDED_PROJECTS)) return null
  return { session, project, cwd, file, changedAt }
}

function inputOf({ tool_input: input }: Payload): Payload {
  return typeof input === 'object' && input !== null ? { ...input } : {}
}

/** In ms; null for what is no file. */
function lastChange(file: string): number | null {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat?.isFile() === true ? Math.max(0, Math.floor(stat.mtimeMs)) : null
  } catch {
    // A path through something that is no directory, or not ours to look at.
    return null
  }
}
