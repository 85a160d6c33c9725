/** What the plugin's hooks run: the hook of the program around it. Where that is not there, one session is told. */
import { existsSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const HOOK = join(__dirname, '..', 'hook.cjs')

if (existsSync(HOOK)) require(HOOK)
else writeSync(1, `${JSON.stringify({ continue: true, suppressOutput: true, ...complaint() })}\n`)

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
