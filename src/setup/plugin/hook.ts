/** The plugin's hook: runs the hook of the program in the plugin, unless `claude-mem install` registered one too. */
import { existsSync, readFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readRegularFileSync, readTextFile } from '../../lib/files.ts'
import { PACKAGE_NAME } from '../../lib/names.ts'

const HOOK = join(__dirname, 'dist', 'hook.cjs')

/** Codex installs the same plugin; it names the directory by a variable that Claude Code does not set. */
const isCodex = process.env.PLUGIN_ROOT !== undefined

if (!existsSync(HOOK)) answer(missingProgramMessage())
else if (isInstalled()) answer({})
else {
  if (isCodex) process.argv.push('--client', 'codex')
  require(HOOK)
}

/** Codex takes no empty answer to some events. */
function answer(more: { systemMessage?: string }): void {
  if (isCodex) return
  writeSync(1, `${JSON.stringify({ continue: true, suppressOutput: true, ...more })}\n`)
}

/** Whether `claude-mem install` registered a hook: the session would get its context twice. */
function isInstalled(): boolean {
  try {
    const settings = readRegularFileSync(hooksFile()).toString('utf8')
    const directories = [...settings.matchAll(/([^"\\]+)\/(?:hook\.cjs|fast-hook\.sh)\b/g)].map(
      ([, directory = '']) => directory,
    )
    return directories.some((dist) => /claude-mem/.test(dist) || isOurPackage(dirname(dist)))
  } catch {
    return false
  }
}

function hooksFile(): string {
  const { CLAUDE_CONFIG_DIR, CODEX_HOME } = process.env
  if (isCodex) return join(CODEX_HOME || join(homedir(), '.codex'), 'hooks.json')
  return join(CLAUDE_CONFIG_DIR || join(homedir(), '.claude'), 'settings.json')
}

/** A clone or another data directory may have any name. */
function isOurPackage(directory: string): boolean {
  return JSON.parse(readTextFile(join(directory, 'package.json')) ?? '{}').name === PACKAGE_NAME
}

/** Only at the start of a session. */
function missingProgramMessage(): { systemMessage?: string } {
  if (!/"hook_event_name"\s*:\s*"SessionStart"/.test(readPayload())) return {}
  return {
    systemMessage:
      'claude-mem does not work: its plugin is not complete. Build it again in a clone of claude-mem (npm run build), or ' +
      'remove the plugin and run there: node dist/cli.js install',
  }
}

function readPayload(): string {
  try {
    return readFileSync(0, 'utf8')
  } catch {
    return ''
  }
}
