/** The name of this machine's user in a team: what it learns travels under this name, and what has it is the user's own. */
import { join } from 'node:path'
import { readRegularFileSync } from '../lib/files.ts'
import type { Settings } from './settings.ts'

/** Longer than any connection string. */
const MAX_TEAM_FILE_BYTES = 65_536

/** The setting, else the role of the connection in `team.json`; null: no team is connected. */
export function ownAuthor(dataDir: string, settings: Pick<Settings, 'CLAUDE_MEM_TEAM_AUTHOR'>): string | null {
  return settings.CLAUDE_MEM_TEAM_AUTHOR || connectionRole(join(dataDir, 'team.json')) || null
}

/** Null for a file that is missing or cannot be used: `claude-mem team` and `claude-mem doctor` report that. */
function connectionRole(file: string): string | null {
  try {
    const { url } = JSON.parse(readRegularFileSync(file, MAX_TEAM_FILE_BYTES).toString('utf8')) as { url?: unknown }
    if (typeof url !== 'string') return null
    const { username, searchParams } = new URL(url)
    return decodeURIComponent(username) || searchParams.get('user')
  } catch {
    return null
  }
}
