/** Opening a page in the user's own browser, without a shell. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { findProgram } from '../find-program.ts'

/** A program that could not open anything says so at once; one that could may stay as long as its browser, in ms. */
const FAILS_WITHIN_MS = 2_000

export interface Opener {
  program: string
  args: readonly string[]
  /** Whether its browser can read a file of ours. */
  readsFiles: boolean
}

export type Opened = { opened: true } | { opened: false; why: string }

/**
 * The link carries a code, and arguments of a process are there for every user of the machine to read. So a browser is
 * given a file that only its owner can read, and which leads on to the link; the code works once, and for two minutes.
 */
export async function openLink(link: string, page: string, env: NodeJS.ProcessEnv): Promise<Opened> {
  const opener = await findOpener(env, process.platform)
  if ('why' in opener) return { opened: false, why: opener.why }
  rmSync(page, { force: true })
  if (opener.readsFiles) writePage(page, redirectPage(link))
  const target = opener.readsFiles ? pathToFileURL(page).href : link
  const failure = await run(opener.program, [...opener.args, target])
  return failure === null ? { opened: true } : { opened: false, why: `${basename(opener.program)} ${failure}` }
}

/** Never into a file that is there; two who open the viewer at once do not meet in one either. */
function writePage(page: string, html: string): void {
  const beside = `${page}.${process.pid}`
  rmSync(beside, { force: true })
  writeFileSync(beside, html, { mode: 0o600, flag: 'wx' })
  renameSync(beside, page)
}

export function redirectPage(link: string): string {
  // In a script `<` could end it; JSON may write it as an escape.
  const quoted = JSON.stringify(link).replaceAll('<', '\\u003c')
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>claude-mem</title>
<script>location.replace(${quoted})</script>
`
}

export async function findOpener(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Promise<Opener | { why: string }> {
  if (platform === 'win32') return await named('rundll32', ['url.dll,FileProtocolHandler'], env)
  if (platform === 'darwin') return await named('open', [], env)
  if ((env.WSL_DISTRO_NAME ?? '') !== '') {
    // The browser is a Windows program, which has other names for our files; nobody else uses this Linux.
    const windows = [await named('wslview', [], env), await named('explorer.exe', [], env)]
    const found = windows.find((opener) => 'program' in opener)
    if (found !== undefined && 'program' in found) return { ...found, readsFiles: false }
  }
  if ((env.DISPLAY ?? '') === '' && (env.WAYLAND_DISPLAY ?? '') === '') return { why: 'there is no display here' }
  const opener = await named('xdg-open', [], env)
  return 'why' in opener ? opener : { ...opener, readsFiles: !(await isSnap(env)) }
}

async function named(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Opener | { why: string }> {
  const program = await findProgram(name, env)
  return program === null ? { why: `there is no program ${name}` } : { program, args, readsFiles: true }
}

const SNAP_DESKTOP_FILES = '/var/lib/snapd/desktop/applications'

/** A browser that was installed as a snap cannot read hidden directories, and ours is one; it has to be given the link. */
async function isSnap(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (!existsSync(SNAP_DESKTOP_FILES)) return false
  if ((env.BROWSER ?? '').includes('/snap/')) return true
  try {
    const { stdout } = await promisify(execFile)('xdg-settings', ['get', 'default-web-browser'], {
      env,
      timeout: FAILS_WITHIN_MS,
    })
    return stdout.trim() !== '' && existsSync(join(SNAP_DESKTOP_FILES, basename(stdout.trim())))
  } catch {
    // Where nobody says which browser it is, the link is what every browser can open.
    return true
  }
}

/** Null: it runs, or has done its work. */
async function run(program: string, args: readonly string[]): Promise<string | null> {
  const child = spawn(program, args, { detached: true, stdio: 'ignore', windowsHide: true })
  child.unref()
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`))
    child.once('exit', (code) => resolve(code === 0 || code === null ? null : `ended with ${code}`))
  })
  const patience = new AbortController()
  const enough = sleep(FAILS_WITHIN_MS, null, { signal: patience.signal }).catch(() => null)
  return await Promise.race([ended, enough]).finally(() => patience.abort())
}
