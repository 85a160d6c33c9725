/**
 * The identity of a repository, the same on every machine: the address of its remote without what differs between clones
 * (protocol, user, port, `.git`, the case of the host). It is read from the text of a repository's `config`, which anybody
 * may have written: it is a claim, and src/daemon/repository-joins.ts decides what it is worth.
 */
import { domainToASCII } from 'node:url'
import { isRepositoryAddress } from './names.ts'
import { maskSecrets } from './secrets.ts'

const REPOSITORY_PREFIX = 'repo:'
const NAMED_PREFIX = 'named:'

/** Longer than any address of a repository, in characters. */
const MAX_ADDRESS_CHARS = 1_024

/** Protocols whose address names a host. `file`, `ext` and remote helpers name nothing that another machine has. */
const PROTOCOLS = new Set(['https', 'http', 'ssh', 'git', 'git+ssh', 'ssh+git'])

/** Hosts that serve SSH on port 443 for another host, as their owners document it. */
const SAME_HOSTS: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
}

/** The key of the repository with this remote; null if the address names nothing that other machines can reach. */
export function repositoryKeyOf(address: string): string | null {
  const given = address.trim()
  if (given.length > MAX_ADDRESS_CHARS || /[\p{C}\p{Zl}\p{Zp}]/u.test(given)) return null
  const parts = splitAddress(given)
  const host = parts === null ? null : normalHost(parts.host)
  const path = parts === null ? null : normalPath(parts.path)
  if (host === null || path === null || !isRepositoryAddress(path)) return null
  const key = `${REPOSITORY_PREFIX}${SAME_HOSTS[host] ?? host}/${path}`
  // A token in an unusual part of the address: without an identity nothing of it is stored.
  return maskSecrets(key) === key ? key : null
}

/** Without user, password and port: they never leave this function. */
function splitAddress(given: string): { host: string; path: string } | null {
  const url = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(\/[^?#]*)?/i.exec(given)
  if (url !== null) {
    const [, protocol = '', authority = '', path = ''] = url
    if (!PROTOCOLS.has(protocol.toLowerCase())) return null
    const address = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority.slice(authority.lastIndexOf('@') + 1))
    return address === null ? null : { host: address[1] ?? '', path }
  }
  return splitScpAddress(given)
}

/** `user@host:path`, as git reads it: the first colon comes before any slash. */
function splitScpAddress(given: string): { host: string; path: string } | null {
  const match = /^(?:[^@/:\\]*@)?(\[[^\]/]*\]|[^@/:\\[]+):(.*)$/.exec(given)
  if (match === null) return null
  const [, host = '', path = ''] = match
  // `C:\shop` is a path, `helper::address` belongs to a program, and `user:password@host` is an address without a protocol.
  if (host.length === 1 || path.startsWith(':') || path.startsWith('//') || path.includes('@')) return null
  return { host, path: path.replace(/[?#].*$/, '') }
}

/** In lower case, as ASCII; null if it is none, or one that means another machine everywhere. */
function normalHost(given: string): string | null {
  const lower = given.toLowerCase().replace(/\.$/, '')
  if (/^\[[0-9a-f:.]+\]$/.test(lower)) return lower === '[::1]' || lower === '[::]' ? null : lower
  const host = /^[a-z0-9._-]+$/.test(lower) ? lower : domainToASCII(lower)
  if (!/^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?$/.test(host) || host.includes('..')) return null
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0)$/.test(host) ? null : host
}

/** Without slashes at its ends and without `.git`. Its case stays: only the host knows whether it matters. */
function normalPath(given: string): string | null {
  if (given.includes('\\')) return null
  const parts = given.split('/').filter((part) => part !== '')
  if (parts.some((part) => part === '.' || part === '..')) return null
  const last = parts.pop() ?? ''
  // `git clone host:shop/.git` names the directory around it.
  const name = last.replace(/\.git$/i, '')
  const path = [...parts, ...(name === '' ? [] : [name])].join('/')
  return path === '' ? null : path
}

/** More than any repository has, and few enough to keep. */
const MAX_REMOTES = 100

/**
 * The remotes in a repository's `config`, each with its first address. Included files are not followed: they are outside
 * of the repository, and what they say differs between machines.
 */
export function remotesInConfig(text: string): Map<string, string> {
  const remotes = new Map<string, string>()
  let remote: string | null = null
  for (const line of configLines(text)) {
    const entry = line.trim()
    if (entry.startsWith('[')) remote = remoteSection(entry)
    const setting = remote === null ? null : /^(?:\[[^\]]*\])?[ \t]*url[ \t]*=(.*)$/is.exec(entry)
    if (remote === null || setting === null || remotes.has(remote)) continue
    remotes.set(remote, configText(setting[1] ?? ''))
    if (remotes.size >= MAX_REMOTES) break
  }
  return remotes
}

/** Lines, those that end with a backslash joined with the next one. */
function* configLines(text: string): Generator<string> {
  let parts: string[] = []
  for (const line of text.split('\n')) {
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line
    const isContinued = /(?:^|[^\\])(?:\\\\)*\\$/.test(whole.slice(-MAX_BACKSLASHES))
    parts.push(isContinued ? whole.slice(0, -1) : whole)
    if (isContinued) continue
    yield parts.join('')
    parts = []
  }
  if (parts.length > 0) yield parts.join('')
}

/** Backslashes at the end of a line that are counted. */
const MAX_BACKSLASHES = 64

/** The name in `[remote "origin"]`; null for another section. */
function remoteSection(line: string): string | null {
  const name = /^\[[ \t]*remote[ \t]+"((?:[^"\\]|\\.)*)"[ \t]*\]/i.exec(line)?.[1]
  return name?.replace(/\\(.)/g, '$1') ?? null
}

/** A value as git reads it: quotes and escapes removed, a comment cut off. */
function configText(given: string): string {
  let value = ''
  let isQuoted = false
  for (let at = 0; at < given.length && value.length <= MAX_ADDRESS_CHARS; at++) {
    const char = given.charAt(at)
    if (char === '"') isQuoted = !isQuoted
    else if (char === '\\') value += given.charAt(++at)
    else if (!isQuoted && (char === '#' || char === ';')) break
    else value += char
  }
  return value.trim()
}

/** The key that a repository claims with its `config`: of the remote `origin`, else of the only one. Null: of none. */
export function claimedRepository(config: string): string | null {
  const remotes = remotesInConfig(config)
  const address = remotes.get('origin') ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined)
  return address === undefined ? null : repositoryKeyOf(address)
}

/** The key of a project that the user named: it is the same on every machine where a directory has that name. */
export function namedProjectKey(name: string): string {
  return `${NAMED_PREFIX}${name}`
}

/** `host/path`, or the name that the user gave; null for keys that mean something on one machine only. */
export function travellingIdentity(key: string): string | null {
  const prefix = [REPOSITORY_PREFIX, NAMED_PREFIX].find((one) => key.startsWith(one))
  const identity = prefix === undefined ? '' : key.slice(prefix.length)
  return identity === '' ? null : identity
}

/** The name for people: the last part of a repository's path. Null for keys that mean something on one machine only. */
export function travellingName(key: string): string | null {
  const identity = travellingIdentity(key)
  if (identity === null || key.startsWith(NAMED_PREFIX)) return identity
  return identity.slice(identity.lastIndexOf('/') + 1)
}
