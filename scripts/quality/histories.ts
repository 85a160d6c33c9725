/**
 * Recorded histories of a project: a folder with `NNN-*.jsonl`, one transcript per session in their order, and
 * `questions.json`, a list of `{after, ask, kind, expect, must_not}`: what a memory of the sessions 0 to `after` should
 * answer. Its directories are gone and differ between machines and worktrees: they all count as one project.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import * as z from 'zod'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { Project } from '../../src/domain/project.ts'
import type { GrowingMemory } from './observed.ts'

const questionsSchema = z.array(
  z.object({
    after: z.int().min(0),
    ask: z.string(),
    kind: z.string(),
    /** All of these appear, in any case, in one text. */
    expect: z.array(z.string()).min(1),
    /** Outdated values. */
    must_not: z.array(z.string()).default([]),
  }),
)
export type Question = z.output<typeof questionsSchema>[number]

export interface History {
  name: string
  /** One transcript per session. */
  files: string[]
  questions: Question[]
  cwd: string
  project: Project
}

/** The histories in a folder, or the one history that the folder is. */
export function historiesIn(directory: string): History[] {
  const found = [directory, ...foldersIn(directory)].filter((folder) => transcriptsIn(folder).length > 0)
  if (found.length === 0) throw new Error(`${directory} contains no history: folders with NNN-*.jsonl`)
  return found.map(readHistory)
}

const foldersIn = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(directory, name))
    .sort()

const transcriptsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{3}-.*\.jsonl$/.test(name))
    .sort()
    .map((name) => join(folder, name))

function readHistory(folder: string): History {
  const name = basename(resolve(folder))
  const file = join(folder, 'questions.json')
  const questions = existsSync(file) ? questionsSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : []
  const cwd = `/histories/${name}`
  return { name, files: transcriptsIn(folder), questions, cwd, project: { key: `dir:${cwd}`, name } }
}

/** The events of one session, as if it had worked in the directory of the history. */
export async function* historyEvents(
  { cwd, project }: History,
  memory: GrowingMemory,
  file: string,
): AsyncGenerator<MemoryEvent> {
  for await (const event of memory.transcript(file)) yield { ...event, cwd, project }
}
