/** A directory of recorded sessions: `NAME.jsonl`, each with `NAME.facts.json`; and the observer that reads them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { dataDirectory, dataPaths } from '../../src/lib/paths.ts'
import { makeObserver } from '../../src/observer/make-observer.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import type { ObservedWith } from './observed.ts'

/** A fact that a good memory of a session contains. */
export interface Fact {
  ask: string
  /** All of these appear, in any case, in one text. */
  expect: string[]
}

/** Names of the sessions. Files of subagents are read together with their session. */
export function sessionsIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.jsonl') && !file.startsWith('agent-'))
    .sort()
    .map((file) => basename(file, '.jsonl'))
}

export const transcriptOf = (directory: string, name: string): string => join(directory, `${name}.jsonl`)

/** The file with the facts of a transcript. */
export const factsFileOf = (directory: string, name: string): string => join(directory, `${name}.facts.json`)

/** None if the session has no such file. */
export function factsOf(directory: string, name: string): Fact[] {
  const file = factsFileOf(directory, name)
  const facts: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  if (!Array.isArray(facts) || !facts.every(isFact)) throw new Error(`${file} is not a list of {ask, expect}`)
  return facts
}

function isFact(value: unknown): value is Fact {
  if (typeof value !== 'object' || value === null || !('ask' in value) || !('expect' in value)) return false
  return (
    typeof value.ask === 'string' &&
    Array.isArray(value.expect) &&
    value.expect.length > 0 &&
    value.expect.every((part) => typeof part === 'string')
  )
}

/** Whether one text holds all that a fact expects. */
export function answers(text: string, { expect }: Fact): boolean {
  const folded = text.toLowerCase()
  return expect.every((part) => folded.includes(part.toLowerCase()))
}

/** Only a named provider reads the user's settings: the others give the same result everywhere. */
export async function observerNamed(provider: string): Promise<ObservedWith> {
  const ruled = provider === 'offline' || provider === 'plain'
  const paths = dataPaths(ruled ? '' : dataDirectory())
  const loaded = loadSettings(paths.dataDir, { ...(ruled ? {} : process.env), CLAUDE_MEM_PROVIDER: provider })
  const { observer, problems } = await makeObserver(loaded, paths, process.env)
  const [wrong] = [...loaded.problems.map(({ message }) => message), ...problems]
  if (wrong !== undefined) throw new Error(wrong)
  return { observer, loaded }
}
