/** Where a user's own prompts lie. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** `configured` is CLAUDE_MEM_PROMPT_DIR. Null: there are none. */
export function ownPromptFolder(dataDir: string, configured: string): string | null {
  if (configured !== '') return configured
  const usual = join(dataDir, 'prompts')
  return existsSync(usual) ? usual : null
}
