/** Real repositories for tests, made by git itself. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

let made = 0

/** With one commit; no two are the same, as no two clones are. */
export function repository(directory: string): string {
  mkdirSync(directory, { recursive: true })
  git(directory, 'init', '--quiet')
  writeFileSync(join(directory, 'README'), `${++made}`)
  git(directory, 'add', '.')
  git(directory, 'commit', '--quiet', '-m', `first of ${made}`)
  return directory
}

/** Nobody's settings reach in. */
export function git(directory: string, ...args: string[]): string {
  const { PATH = '', ComSpec = '', SystemRoot = '' } = process.env
  const env = {
    PATH,
    ComSpec,
    SystemRoot,
    HOME: dirname(directory),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  }
  return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], { cwd: directory, env, encoding: 'utf8' })
}
