/**
 * The connection to a team, in `team.json` of the data directory. It holds a password, so only its owner can read it, and it
 * is not part of the settings: `claude-mem config` and the viewer show those. A container may mount it read-only.
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { isName, NAME_RULE } from '../domain/names.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { isMissingFile, moveFileSync, readRegularFileSync, writeFileDurably } from '../lib/files.ts'
import type { Paths } from '../lib/paths.ts'
import type { Settings } from '../settings/settings.ts'

/** Longer than any connection string; shorter than a wrong file. */
const MAX_FILE_BYTES = 65_536
const MAX_URL_CHARS = 4_096

const teamFileSchema = z.object({
  url: z.string().min(1).max(MAX_URL_CHARS),
  /** Without TLS, or without checking the certificate, also over a network. */
  insecure: z.boolean().default(false),
  /** Name of this machine in the team. */
  machine: z.string().refine(isName, `is no name: it has ${NAME_RULE}`).exactOptional(),
  /** Every project that can be shared is, also a later one. */
  allProjects: z.boolean().default(false),
})

export type TeamFile = z.output<typeof teamFileSchema>

/** Null: no team is connected. A file that cannot be used is an error; the memory then stays on this machine. */
export function readTeamFile(paths: Pick<Paths, 'team'>): TeamFile | null {
  let text: string
  try {
    text = readRegularFileSync(paths.team, MAX_FILE_BYTES).toString('utf8')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw damagedFile(paths.team, errorMessage(error), error)
  }
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // The parser quotes the text, which holds a password.
    throw damagedFile(paths.team, 'it is not JSON', error instanceof SyntaxError ? undefined : error)
  }
  const parsed = teamFileSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw damagedFile(
    paths.team,
    `${issue?.path.join('.') || 'it'} ${issue?.code === 'custom' ? issue.message : 'is not as expected'}`,
  )
}

/**
 * The name of this machine's user, where no daemon can ask the log for it: the setting, else the role of the connection.
 * Null: no team is connected, or its file cannot be used; `claude-mem team` and `claude-mem doctor` report that.
 */
export function configuredAuthor(
  paths: Pick<Paths, 'team'>,
  settings: Pick<Settings, 'CLAUDE_MEM_TEAM_AUTHOR'>,
): string | null {
  if (settings.CLAUDE_MEM_TEAM_AUTHOR !== '') return settings.CLAUDE_MEM_TEAM_AUTHOR
  try {
    const file = readTeamFile(paths)
    if (file === null) return null
    const { username, searchParams } = new URL(file.url)
    return decodeURIComponent(username) || searchParams.get('user')
  } catch {
    return null
  }
}

function damagedFile(file: string, why: string, cause?: unknown): MemError {
  const next = 'memories stay on this machine; connect again with: claude-mem team connect'
  return new MemError('bad_setting', `${file} cannot be used (${why}): ${next}`, cause === undefined ? {} : { cause })
}

export function writeTeamFile(paths: Pick<Paths, 'team'>, file: TeamFile): void {
  const temporary = `${paths.team}.${process.pid}`
  try {
    rmSync(temporary, { force: true })
    writeFileDurably(temporary, `${JSON.stringify(file, null, 2)}\n`, 'wx')
    moveFileSync(temporary, paths.team)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new MemError('storage', `${paths.team} cannot be written: ${errorMessage(error)}`, { cause: error })
  }
}

/** False if there was none. */
export function removeTeamFile(paths: Pick<Paths, 'team'>): boolean {
  try {
    rmSync(paths.team)
    return true
  } catch (error) {
    if (isMissingFile(error)) return false
    throw new MemError('storage', `${paths.team} cannot be removed: ${errorMessage(error)}`, { cause: error })
  }
}

/** Without anything that is typed into a terminal by mistake: letters and digits that differ when read aloud. */
const MACHINE_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
const MACHINE_RANDOM_CHARS = 6
const MACHINE_NAME = /^machine-[a-z0-9]{6}$/

/**
 * The name of this machine: the setting, else the one in `team.json`, else a random one that is made once and kept in a file.
 * Nothing is taken from the system. `rename`: makes another random name, after a disk was copied.
 */
export function machineName(dataDir: string, setting: string, file: TeamFile | null, rename = false): string {
  if (setting !== '') return setting
  if (file?.machine !== undefined) return file.machine
  const path = join(dataDir, 'team-machine')
  if (!rename) {
    const known = readMachineFile(path)
    if (known !== null) return known
  }
  const random = [...randomBytes(MACHINE_RANDOM_CHARS)].map((byte) => MACHINE_ALPHABET[byte % MACHINE_ALPHABET.length])
  const name = `machine-${random.join('')}`
  writeFileDurably(path, `${name}\n`, 'w')
  return name
}

/** Null if there is none, or a damaged one: a new name is made. */
function readMachineFile(path: string): string | null {
  try {
    const name = readRegularFileSync(path, MAX_FILE_BYTES).toString('utf8').trim()
    return MACHINE_NAME.test(name) ? name : null
  } catch (error) {
    if (isMissingFile(error)) return null
    throw new MemError('storage', `${path} cannot be read: ${errorMessage(error)}`, { cause: error })
  }
}
