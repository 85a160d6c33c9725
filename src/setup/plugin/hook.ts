/** The plugin's hook: runs the hook of the program in the directory above, or reports once a session that it is missing. */
import { existsSync, readFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readRegularFileSync } from '../../lib/files.ts'

const HOOK = join(__dirname, '..', 'hook.cjs')

if (!existsSync(HOOK)) answer(missingProgramMessage())
else if (isInstalled()) answer({})
else require(HOOK)

function answer(more: { systemMessage?: string }): void {
  writeSync(1, `${JSON.stringify({ continue: true, suppressOutput: true, ...more })}\n`)
}

/** Whether `claude-mem install` registered the hook too: the session would get its context twice. */
function isInstalled(): boolean {
  const { CLAUDE_CONFIG_DIR: configured } = process.env
  const directory = configured === undefined || configured === '' ? join(homedir(), '.claude') : configured
  try {
    const settings = readRegularFileSync(join(directory, 'settings.json')).toString('utf8')
    return settings.includes(HOOK.replaceAll('\\', '/')) || /claude-mem[^"\\]*\/hook\.cjs/.test(settings)
  } catch {
    return false
  }
}

/** Only at the start of a session. */
function missingProgramMessage(): { systemMessage?: string } {
  if (!/"hook_event_name"\s*:\s*"SessionStart"/.test(readPayload())) return {}
  return {
    systemMessage:
      'claude-mem does not work: its plugin was copied without the program. Run claude --plugin-dir with the plugin ' +
      'directory inside the program, or remove the plugin and run: claude-mem install',
  }
}

function readPayload(): string {
  try {
    return readFileSync(0, 'utf8')
  } catch {
    return ''
  }
}
