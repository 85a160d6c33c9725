/** Opens a page in the user's browser, without a shell. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { moveFileSync } from '../lib/files.ts'
import { findProgram } from '../lib/find-program.ts'
import { withTimeout } from '../lib/timeout.ts'

/** An opener that fails exits within this time; one that succeeds may run as long as its browser. */
const FAILURE_TIMEOUT_MS = 2_000

interface BrowserOpener {
  program: string
  args: readonly string[]
  /** The file that redirects to the link, where the browser can read it. */
  page: string
  /** What the program gets to open that file. */
  target: string
  /** Its exit code says nothing: `explorer.exe` ends with 1 after it has opened a file. */
  ignoresExitCode?: true
}

type NoOpener = { why: string }

export type OpenResult = { opened: true } | { opened: false; why: string }

interface OpenOptions {
  env: NodeJS.ProcessEnv
  platform?: NodeJS.Platform
  snapDesktopFiles?: string
}

/**
 * The link contains a code, and every user of the machine can read the arguments of a process. So the browser gets a file
 * that only its owner can read, which redirects to the link; where it cannot read such a file, the caller prints the link
 * on the terminal. The code works once, and for two minutes.
 */
export async function openInBrowser(link: string, page: string, options: OpenOptions): Promise<OpenResult> {
  const opener = await findBrowserOpener(page, options)
  if ('why' in opener) return { opened: false, why: opener.why }
  writePage(opener.page, redirectPage(link))
  const failure = await runOpener(opener.program, [...opener.args, opener.target], options.env)
  return failure === null || opener.ignoresExitCode === true
    ? { opened: true }
    : { opened: false, why: `${basename(opener.program)} ${failure}` }
}

/** Never writes into an existing file, and two commands at the same time do not write the same one. */
function writePage(page: string, html: string): void {
  const temporary = `${page}.${process.pid}`
  rmSync(temporary, { force: true })
  writeFileSync(temporary, html, { mode: 0o600, flag: 'wx' })
  moveFileSync(temporary, page)
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

async function findBrowserOpener(page: string, options: OpenOptions): Promise<BrowserOpener | NoOpener> {
  const { env, platform = process.platform } = options
  if (platform === 'win32') return await findOpener('rundll32', ['url.dll,FileProtocolHandler'], page, env)
  if (platform === 'darwin') return await findOpener('open', [], page, env)
  if ((env.WSL_DISTRO_NAME ?? '') !== '') return await findWindowsOpener(page, env)
  if ((env.DISPLAY ?? '') === '' && (env.WAYLAND_DISPLAY ?? '') === '') return { why: 'there is no display here' }
  const readable = await pageForSnap(page, options)
  return readable === null
    ? { why: 'the browser is a snap, which cannot read the data directory' }
    : await findOpener('xdg-open', [], readable, env)
}

async function findOpener(
  name: string,
  args: readonly string[],
  page: string,
  env: NodeJS.ProcessEnv,
): Promise<BrowserOpener | NoOpener> {
  const program = await findProgram(name, env)
  return program === null
    ? { why: `there is no program ${name}` }
    : { program, args, page, target: pathToFileURL(page).href }
}

/** In WSL the browser is a Windows program, for which our files have another path. */
async function findWindowsOpener(page: string, env: NodeJS.ProcessEnv): Promise<BrowserOpener | NoOpener> {
  const [explorer, wslpath] = [await findProgram('explorer.exe', env), await findProgram('wslpath', env)]
  if (explorer === null || wslpath === null) {
    return { why: `there is no program ${explorer === null ? 'explorer.exe' : 'wslpath'}` }
  }
  // The path of the directory: the page itself does not exist yet.
  const directory = await outputOf(wslpath, ['-w', dirname(page)], env)
  if (directory === null) return { why: 'wslpath failed' }
  return { program: explorer, args: [], page, target: `${directory}\\${basename(page)}`, ignoresExitCode: true }
}

const SNAP_DESKTOP_FILES = '/var/lib/snapd/desktop/applications'

/**
 * A browser from a snap cannot read hidden directories, such as the data directory, but it can read its own one. Null: it
 * is a snap whose directory is not known.
 */
async function pageForSnap(page: string, options: OpenOptions): Promise<string | null> {
  const { env, snapDesktopFiles = SNAP_DESKTOP_FILES } = options
  if (!existsSync(snapDesktopFiles)) return page
  const desktopFile = await outputOf('xdg-settings', ['get', 'default-web-browser'], env)
  const isSnap =
    desktopFile === null
      ? (env.BROWSER ?? '').includes('/snap/')
      : existsSync(join(snapDesktopFiles, basename(desktopFile)))
  if (!isSnap) return page
  // Such a file is named after the snap and its program: firefox_firefox.desktop.
  const [name = ''] = basename(desktopFile ?? '').split('_')
  const directory = join(env.HOME ?? homedir(), 'snap', name, 'common')
  return name !== '' && existsSync(directory) ? join(directory, `claude-mem-${basename(page)}`) : null
}

/** The first line that a program prints; null where it fails or prints nothing. */
async function outputOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { env, timeout: FAILURE_TIMEOUT_MS })
    return stdout.split(/\r?\n/, 1)[0]?.trim() || null
  } catch {
    return null
  }
}

/** Null: it has succeeded or is still running. */
async function runOpener(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  const child = spawn(program, args, { detached: true, stdio: 'ignore', windowsHide: true, env })
  child.unref()
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`))
    child.once('exit', (code) => resolve(code === 0 || code === null ? null : `ended with ${code}`))
  })
  return await withTimeout(FAILURE_TIMEOUT_MS, ended, null)
}
