import type { Settings } from '../../settings.ts'
import type { FileLimits } from './wanted.ts'

export function fileLimits(settings: Settings): FileLimits {
  return { rows: settings.CLAUDE_MEM_FILES_ROWS, folders: settings.CLAUDE_MEM_FILES_FOLDERS }
}
