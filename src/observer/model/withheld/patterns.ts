/**
 * A list of paths in a small part of gitignore's language. Matching takes time in proportion to the pattern and the
 * path and no more: the patterns are a person's, the paths are anybody's.
 */
import { homedir } from 'node:os'

interface Pattern {
  /** As the person wrote it. */
  written: string
  negated: boolean
  /** With `**` in front where it may begin anywhere, and behind where everything below matches too. */
  segments: string[]
}

export interface PathPatterns {
  /** The pattern that a path is on the list by, or null. Relative paths are looked at from `from`. */
  match(path: string, from: string): string | null
}

const WILDCARD = /[*?[]/
/** A path that is longer is none. */
const MAX_PATH_CHARS = 4_096

/** A later pattern overrules an earlier one: `.env.*,!.env.example`. */
export function pathPatterns(list: readonly string[]): PathPatterns {
  const patterns = list.flatMap(patternOf)
  return {
    match(path, from) {
      if (path === '' || path.length > MAX_PATH_CHARS) return null
      const segments = segmentsOf(isAbsolute(path) ? path : `${from}/${path}`)
      const isGlob = WILDCARD.test(path)
      let found: string | null = null
      for (const pattern of patterns) {
        if (pattern.negated && found === null) continue
        // What a wildcard stands for is not known well enough to let it pass.
        const same = isGlob && !pattern.negated ? mayMatch : globMatches
        if (matches(pattern.segments, segments, '**', same)) found = pattern.negated ? null : pattern.written
      }
      return found
    },
  }
}

function patternOf(entry: string): Pattern[] {
  const written = entry.trim()
  const negated = written.startsWith('!')
  const path = (negated ? written.slice(1) : written).replaceAll('\\', '/')
  const named = segmentsOf(path)
  if (named.length === 0) return []
  // A bare word (`secrets`) may be a folder; `.env` and `*.key` are files.
  const bareWord = named.length === 1 && /^[^.*?]+$/.test(named[0] ?? '')
  const below = path.endsWith('/') || named.length > 1 || bareWord
  const segments = [...(isAbsolute(path) ? [] : ['**']), ...named, ...(below ? ['**'] : [])]
  return [{ written: written.replace(/^!/, ''), negated, segments }]
}

const isAbsolute = (path: string) => /^(?:[\\/]|[A-Za-z]:[\\/]|~(?:[\\/]|$)|\$\{?HOME\}?(?:[\\/]|$))/.test(path)

/** Lower case everywhere: where file systems tell cases apart, withholding too much is the smaller mistake. */
function segmentsOf(path: string): string[] {
  const whole = path.replace(/^(?:~|\$\{?HOME\}?)(?=[\\/]|$)/, () => homedir())
  const segments: string[] = []
  for (const segment of whole.toLowerCase().split(/[\\/]+/)) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments
}

/** A word with a shell's wildcards stands for names: does it match one that the pattern is meant for? */
function mayMatch(pattern: string, name: string): boolean {
  if (globMatches(pattern, name)) return true
  if (!WILDCARD.test(name)) return false
  const glob = name.replace(/\[[^\]]*\]/g, '?')
  if (globMatches(pattern, glob.replace(/[*?]/g, 'x'))) return true
  // `*` and `*.*` stand for everything, and so for nothing in particular.
  const literals = glob.replace(/[*?]/g, '')
  if (literals.length < 2 && !glob.startsWith('.')) return false
  return ['', 'x'].some((filling) => globMatches(glob, pattern.replace(/[*?]/g, filling)))
}

export function globMatches(pattern: string, name: string): boolean {
  if (!WILDCARD.test(pattern)) return pattern === name
  return matches(pattern, name, '*', (one, char) => one === '?' || one === char)
}

interface Sequence {
  readonly length: number
  readonly [index: number]: string
}

/** One wildcard that stands for any number of items; the last one met takes the next item when the rest fails. */
function matches(
  pattern: Sequence,
  items: Sequence,
  wildcard: string,
  same: (one: string, item: string) => boolean,
): boolean {
  let p = 0
  let wild = -1
  let resume = 0
  for (let i = 0; i < items.length; ) {
    const one = pattern[p]
    if (one === wildcard) {
      wild = p++
      resume = i
    } else if (one !== undefined && same(one, items[i] ?? '')) {
      p++
      i++
    } else if (wild >= 0) {
      p = wild + 1
      i = ++resume
    } else return false
  }
  while (pattern[p] === wildcard) p++
  return p === pattern.length
}
