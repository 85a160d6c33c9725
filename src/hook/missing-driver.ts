/**
 * What the user is told when a session starts while the database driver is missing: the daemon fetches it once. A plugin
 * comes without it. Looked at only when no daemon answers.
 */
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { readTextFile } from '../lib/files.ts'
import type { Paths } from '../lib/paths.ts'
import { parseJsonObject } from './payload.ts'

const DRIVER = 'better-sqlite3'

/** Empty if the driver is there. `dist`: the directory of the program. */
export function missingDriverMessage(paths: Paths, dist: string): string {
  const program = join(dist, 'cli.js')
  if (!existsSync(program) || isInProgram(dist) || isFetched(paths.packages)) return ''
  const { reason } = parseJsonObject(readTextFile(join(paths.packages, 'failure.json')) ?? '') ?? {}
  const kept = `What happens meanwhile is kept in ${paths.spool} and stored as soon as it is there.`
  if (typeof reason !== 'string') {
    return `claude-mem fetches its database driver (${DRIVER}) once, into ${paths.packages}. ${kept}`
  }
  return (
    `claude-mem cannot store anything yet: its database driver could not be fetched (${reason}). ${kept} ` +
    `It is tried again every ten minutes. To try now: node "${program}" packages install ${DRIVER}`
  )
}

function isInProgram(dist: string): boolean {
  try {
    createRequire(join(dist, 'hook.cjs')).resolve(DRIVER)
    return true
  } catch {
    return false
  }
}

function isFetched(packages: string): boolean {
  if (!existsSync(packages)) return false
  return readdirSync(packages).some((name) => name.startsWith(`${DRIVER}@`))
}
