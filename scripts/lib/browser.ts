/** A real Chromium, found on this machine, driven without a window. */
import { type Browser, chromium } from 'playwright-core'
import { findProgram } from '../../src/find-program.ts'

/** As Debian, Ubuntu, Fedora, Arch and Google call it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'] as const

export async function findBrowser(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const given = env.CLAUDE_MEM_TEST_BROWSER
  if (given !== undefined && given !== '') return given
  for (const name of NAMES) {
    const found = await findProgram(name, env)
    if (found !== null) return found
  }
  throw new Error(
    'no Chromium was found; install one (Debian: apt-get install chromium) or name it in CLAUDE_MEM_TEST_BROWSER',
  )
}

export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  // Chromium's sandbox does not start for root, as in a container. The page shown is our own.
  const isRoot = process.getuid?.() === 0
  return await chromium.launch({
    executablePath: await findBrowser(),
    args: [...(isRoot ? ['--no-sandbox'] : []), '--disable-dev-shm-usage', ...args],
  })
}
