/** The clients that claude-mem knows, by the name that is stored with a session and given to `--client`. */
const CLIENT_TITLES = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
  copilot: 'Copilot CLI',
  cursor: 'Cursor',
  qwen: 'Qwen Code',
} as const

export type ClientName = keyof typeof CLIENT_TITLES
export const CLIENT_NAMES = Object.keys(CLIENT_TITLES) as ClientName[]

/** The title of a client; the stored name itself if it is another program (`rest`, an import). */
export function clientTitle(name: string): string {
  return agentTitle(name) ?? name
}

/** Null: no agent, but another program, or nothing is known. */
export function agentTitle(name: string | null): string | null {
  return CLIENT_NAMES.includes(name as ClientName) ? CLIENT_TITLES[name as ClientName] : null
}
