/** Opens a page in the user's browser, without a shell. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { findProgram } from '../lib/find-program.ts'
import { withTimeout } from '../lib/timeout.ts'

/** An opener that fails exits within this time; one that succeeds may run as long as its browser. */
const FAILURE_TIMEOUT_MS = 2_000

interface BrowserOpener {
  program: string
  args: readonly string[]
  /** Whether its browser can read a file in the data directory. */
  readsFiles: boolean
}

export type OpenResult = { opened: true } | { opened: false; why: string }

/**
 * The link contains a code, and every user of the machine can read the arguments of a process. So the browser gets a file
 * that only its owner can read, which redirects to the link. The code works once, and for two minutes.
 */
export async function openInBrowser(link: string, page: string, env: NodeJS.ProcessEnv): Promise<OpenResult> {
  const opener = await findBrowserOpener(env, process.platform)
  if ('why' in opener) return { opened: false, why: opener.why }
  rmSync(page, { force: true })
  if (opener.readsFiles) writePage(page, redirectPage(link))
  const target = opener.readsFiles ? pathToFileURL(page).href : link
  const failure = await runOpener(opener.program, [...opener.args, target])
  return failure === null ? { opened: true } : { opened: false, why: `${basename(opener.program)} ${failure}` }
}

/** Never writes into an existing file, and two commands at the same time do not write the same one. */
function writePage(page: string, html: string): void {
  const temporary = `${page}.${process.pid}`
  rmSync(temporary, { force: true })
  writeFileSync(temporary, html, { mode: 0o600, flag: 'wx' })
  renameSync(temporary, page)
}

function redirectPage(link: string): string {
  // `</script>` in the link would end the script.
  const quoted = JSON.stringify(link).replaceAll('<', '\\u003c')
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>claude-mem</title>
<script>location.replace(${quoted})</script>
`
}

async function findBrowserOpener(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): Promise<BrowserOpener | { why: string }> {
  if (platform === 'win32') return await findOpener('rundll32', ['url.dll,FileProtocolHandler'], env)
  if (platform === 'darwin') return await findOpener('open', [], env)
  if ((env.WSL_DISTRO_NAME ?? '') !== '') {
    // The browser is a Windows program and has other paths for our files. WSL has only one user, so the link is safe.
    const openers = [await findOpener('wslview', [], env), await findOpener('explorer.exe', [], env)]
    const found = openers.find((opener) => 'program' in opener)
    if (found !== undefined && 'program' in found) return { ...found, readsFiles: false }
  }
  if ((env.DISPLAY ?? '') === '' && (env.WAYLAND_DISPLAY ?? '') === '') return { why: 'there is no display here' }
  const opener = await findOpener('xdg-open', [], env)
  return 'why' in opener ? opener : { ...opener, readsFiles: !(await isSnap(env)) }
}

async function findOpener(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<BrowserOpener | { why: string }> {
  const program = await findProgram(name, env)
  return program === null ? { why: `there is no program ${name}` } : { program, args, readsFiles: true }
}

const SNAP_DESKTOP_FILES = '/var/lib/snapd/desktop/applications'

/** A browser from a snap cannot read hidden directories, such as the data directory. */
async function isSnap(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (!existsSync(SNAP_DESKTOP_FILES)) return false
  if ((env.BROWSER ?? '').includes('/snap/')) return true
  try {
    const { stdout } = await promisify(execFile)('xdg-settings', ['get', 'default-web-browser'], {
      env,
      timeout: FAILURE_TIMEOUT_MS,
    })
    return stdout.trim() !== '' && existsSync(join(SNAP_DESKTOP_FILES, basename(stdout.trim())))
  } catch {
    // The browser is unknown, and every browser can open the link.
    return true
  }
}

/** Null: it has succeeded or is still running. */
async function runOpener(program: string, args: readonly string[]): Promise<string | null> {
  const child = spawn(program, args, { detached: true, stdio: 'ignore', windowsHide: true })
  child.unref()
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`))
    child.once('exit', (code) => resolve(code === 0 || code === null ? null : `ended with ${code}`))
  })
  return await withTimeout(FAILURE_TIMEOUT_MS, ended, null)
}
