/** A year of transcripts under a made-up configuration directory of Claude Code. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../lib/random.ts'
import { PROJECTS } from './projects.ts'
import { sessionOf } from './session.ts'

const DAY_MS = 86_400_000
const YEAR_DAYS = 365
/** The newest is over: a session that is still being written would be left alone. */
const NEWEST_AGO_MS = 3 * 3_600_000

export interface Written {
  configDir: string
  sessions: number
  toolUses: number
  bytes: number
}

/** `at`: the end of the year, epoch ms. */
export function writeYear(
  root: string,
  options: { sessions: number; toolUses: number; seed: number; at: number },
  progress: (text: string) => void,
): Written {
  const { sessions, toolUses, seed, at } = options
  const random = new Random(seed)
  const configDir = join(root, 'claude')
  const written: Written = { configDir, sessions: 0, toolUses: 0, bytes: 0 }
  for (const { name } of PROJECTS) repository(join(root, 'work', name))
  for (let n = 0; n < sessions; n++) {
    progress(`writing transcript ${n + 1} of ${sessions}`)
    const project = random.pick(PROJECTS)
    const cwd = join(root, 'work', project.name)
    const share = (toolUses - written.toolUses) / (sessions - n)
    const ago = NEWEST_AGO_MS + (YEAR_DAYS * DAY_MS * (sessions - n - 1)) / sessions
    const wanted = Math.max(1, Math.round(share * (n === sessions - 1 ? 1 : 0.4 + 1.2 * random.next())))
    const made = sessionOf({ name: `${seed}-${n}`, project, cwd, at: at - ago - 2 * 3_600_000, toolUses: wanted })
    const directory = join(configDir, 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'))
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `${made.session}.jsonl`), made.text)
    written.sessions += 1
    written.toolUses += made.toolUses
    written.bytes += Buffer.byteLength(made.text)
  }
  return written
}

/** Enough of a repository to be found as one. */
function repository(directory: string): void {
  mkdirSync(join(directory, '.git'), { recursive: true })
  writeFileSync(join(directory, '.git', 'HEAD'), 'ref: refs/heads/main\n')
}
