/** A hostile tree or client directory: no pipe and no device stops the hook or the daemon. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST } from '../support/paths.ts'
import { exited, runProgram } from '../support/programs.ts'

/** Far above what a hook needs: a hook that waits for a pipe is killed then and reports the signal. */
const HANG_MS = 20_000

let sandbox: DaemonSandbox
let tree: string
let daemon: ChildProcess
beforeEach(async () => {
  sandbox = new DaemonSandbox()
  tree = temporaryDirectory('hostile')
  daemon = await sandbox.start()
})
afterEach(() => sandbox.dispose())

const pipe = (...parts: string[]) => execFileSync('mkfifo', [join(tree, ...parts)], { timeout: HANG_MS })
const runHook = (payload: object) =>
  runProgram(process.execPath, [join(DIST, 'hook.cjs'), '--data-dir', sandbox.dataDir], {
    env: sandbox.env,
    input: JSON.stringify({ session_id: 's', cwd: tree, ...payload }),
    timeoutMs: HANG_MS,
  })

describe.skipIf(process.platform === 'win32')('a hook in a hostile tree', () => {
  test.each<[string, () => void]>([
    ['.git is a pipe', () => pipe('.git')],
    ['.git is a link to a device', () => symlinkSync('/dev/zero', join(tree, '.git'))],
    [
      '.git/commondir is a link to a device',
      () => {
        mkdirSync(join(tree, '.git'))
        writeFileSync(join(tree, '.git', 'HEAD'), 'ref: refs/heads/main\n')
        symlinkSync('/dev/zero', join(tree, '.git', 'commondir'))
      },
    ],
    [
      '.git/commondir is a pipe',
      () => {
        mkdirSync(join(tree, '.git'))
        writeFileSync(join(tree, '.git', 'HEAD'), 'ref: refs/heads/main\n')
        pipe('.git', 'commondir')
      },
    ],
  ])('answers where %s', async (_, prepare) => {
    prepare()
    const { code, signal } = await runHook({ hook_event_name: 'UserPromptSubmit', prompt: 'hello' })
    expect([code, signal]).toEqual([0, null])
    const { sessions } = await sandbox.ask((client) => client.call('sessions', {}))
    expect([`dir:${tree}`, `git:${join(tree, '.git')}`]).toContain(sessions[0]?.project)
  })

  test('answers where the transcript is a pipe', async () => {
    pipe('transcript.jsonl')
    const { code, signal } = await runHook({
      hook_event_name: 'Stop',
      transcript_path: join(tree, 'transcript.jsonl'),
    })
    expect([code, signal]).toEqual([0, null])
  })
})

test.skipIf(process.platform === 'win32')('a daemon with a stuck call of the file system ends', async () => {
  pipe('stuck')
  // In one thread only: the pool, which all threads of a process share, has four places.
  const opening = `import { open } from 'node:fs/promises'; import { isMainThread } from 'node:worker_threads'
    if (isMainThread) open(${JSON.stringify(join(tree, 'stuck'))})`
  const stuck = new DaemonSandbox()
  try {
    const child = await stuck.start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(opening)}` })
    child.kill('SIGTERM')
    await exited(child)
    expect([child.exitCode, child.signalCode]).toEqual([null, 'SIGKILL'])
  } finally {
    await stuck.dispose()
  }
})

describe.skipIf(process.platform === 'win32')('a daemon with sessions in hostile trees', () => {
  test('answers and ends although git logs are pipes', async () => {
    // More than the threads that Node has for files.
    for (let i = 0; i < 6; i++) {
      mkdirSync(join(tree, `${i}`, '.git', 'logs'), { recursive: true })
      writeFileSync(join(tree, `${i}`, '.git', 'HEAD'), 'ref: refs/heads/main\n')
      pipe(`${i}`, '.git', 'logs', 'HEAD')
      const payload = {
        hook_event_name: 'SessionStart',
        source: 'startup',
        session_id: `s${i}`,
        cwd: join(tree, `${i}`),
      }
      expect((await runHook(payload)).code).toBe(0)
    }
    expect((await sandbox.status()).pid).toBe(daemon.pid)
    daemon.kill('SIGTERM')
    expect(await exited(daemon)).toBe(0)
  })
})
