/**
 * How the user's client signs in, from its own settings. We let it read none of them (they bring hooks, plugins, models,
 * output styles); without these few, people with a gateway, Bedrock or a helper program would not be signed in.
 */
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface Account {
  /** Passed on as settings: names of programs, no secrets. */
  settings: Record<string, unknown>
  /** Passed on in the environment, where other users of the machine cannot read it. */
  env: Record<string, string>
}

const SIGN_IN = [
  'apiKeyHelper',
  'awsAuthRefresh',
  'awsCredentialExport',
  'gcpAuthRefresh',
  'forceLoginMethod',
  'forceLoginOrgUUID',
  'modelOverrides',
]

export async function readAccount(env: NodeJS.ProcessEnv): Promise<Account> {
  const directory = env.CLAUDE_CONFIG_DIR || join(env.HOME || env.USERPROFILE || homedir(), '.claude')
  const user = await readSettings(join(directory, 'settings.json'))
  const settings = Object.fromEntries(
    SIGN_IN.filter((name) => Object.hasOwn(user, name)).map((name) => [name, user[name]]),
  )
  const texts = Object.entries(objectOf(user.env)).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && /^[^=\0]+$/.test(name) && !value.includes('\0') ? [[name, value]] : [],
  )
  return { settings, env: Object.fromEntries(texts) }
}

/** Unreadable or not JSON: the client itself goes on without them in print mode. */
async function readSettings(file: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, ''))
    return objectOf(value)
  } catch {
    return {}
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
