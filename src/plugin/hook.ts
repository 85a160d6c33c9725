/** What the plugin's hooks run: the hook of the program around it. Where that is not there, one session is told. */
import { existsSync, readFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const HOOK = join(__dirname, '..', 'hook.cjs')

if (!existsSync(HOOK)) answer(complaint())
else if (isInstalled()) answer({})
else require(HOOK)

function answer(more: { systemMessage?: string }): void {
  writeSync(1, `${JSON.stringify({ continue: true, suppressOutput: true, ...more })}\n`)
}

/** `claude-mem install` registered the hook too: one of them is enough, or the session gets its memory twice. */
function isInstalled(): boolean {
  const { CLAUDE_CONFIG_DIR: configured } = process.env
  const directory = configured === undefined || configured === '' ? join(homedir(), '.claude') : configured
  try {
    const settings = readFileSync(join(directory, 'settings.json'), 'utf8')
    return settings.includes(HOOK.replaceAll('\\', '/')) || /claude-mem[^"\\]*\/hook\.cjs/.test(settings)
  } catch {
    return false
  }
}

/** Once a session is enough. */
function complaint(): { systemMessage?: string } {
  if (!/"hook_event_name"\s*:\s*"SessionStart"/.test(payload())) return {}
  return {
    systemMessage:
      'claude-mem remembers nothing: its plugin was copied without the program around it. Run claude --plugin-dir with the ' +
      'plugin directory inside the program, or remove the plugin and run: claude-mem install',
  }
}

function payload(): string {
  try {
    return readFileSync(0, 'utf8')
  } catch {
    return ''
  }
}
