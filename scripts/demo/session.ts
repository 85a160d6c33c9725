/** The demo's recorded session: the payloads that Claude Code 2.1 gave to its hooks, one per line of `session.jsonl`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Payload } from '../lib/payloads.ts'
import { ROOT } from '../lib/sandbox.ts'

export function readDemoSession(): Payload[] {
  const text = readFileSync(join(ROOT, 'scripts', 'demo', 'session.jsonl'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** What a tool worked on: a file of the project, a command, a pattern or an address. */
export function toolSubject({ tool_name, tool_input, cwd }: Payload): string {
  const input = new Map(Object.entries(tool_input ?? {}))
  const subject = ['file_path', 'command', 'pattern', 'url'].map((field) => input.get(field)).find(isText)
  return subject?.replace(`${cwd}/`, '').replace(/^https:\/\//, '') ?? String(tool_name)
}

const isText = (value: unknown): value is string => typeof value === 'string'
