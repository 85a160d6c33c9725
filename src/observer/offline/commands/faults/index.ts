/** What went wrong, most telling first: what was asserted, what does not compile, what crashed, what was missing. */

import { unique } from '../../text.ts'
import { clip, type Output } from '../output.ts'
import type { Fault } from '../reading.ts'
import { bundlers, dotnet, elixir, go, jvm, native, rust, typescript } from './compilers.ts'
import { linters } from './linters.ts'
import { fileOf } from './places.ts'
import * as runtime from './runtime.ts'
import { anyError, containers, make, packages, signal, sql, system, versionControl } from './tools.ts'

const MAX_ERRORS = 6
const MAX_FILES = 12
const MAX_FAULTS = 60 // ten times what is shown: enough to drop those that say the same
const LAST_WORDS = 2 // lines kept of a program that failed in words nobody knows

const COMPILERS = [typescript, rust, go, native, jvm, dotnet, elixir, bundlers]
const CRASHES = [
  runtime.python,
  runtime.javascript,
  runtime.rustPanic,
  runtime.goPanic,
  runtime.jvm,
  runtime.dotnet,
  runtime.ruby,
  runtime.php,
]
const TOOLS = [packages, sql, versionControl, containers, system]

/** Crashes that no exit code is needed to believe. */
export function crashed(out: Output): boolean {
  return (
    CRASHES.some((find) => find(out).length > 0) ||
    /^(?:\S{1,100}: ){0,3}(?:line \d+: )?\S{1,100}: command not found$/m.test(out.text)
  )
}

export function faultsOf(out: Output, known: Fault[], exitCode: number | null): Fault[] {
  // A test's own report of a place says more than the stack that runs through it.
  const told = new Set(known.map((one) => one.place))
  const placed = [...COMPILERS, linters, ...CRASHES].flatMap((find) => find(out))
  const found = [...known, ...signal(exitCode), ...placed.filter((one) => one.place === null || !told.has(one.place))]
  found.push(...TOOLS.flatMap((find) => find(out)))
  if (found.length < MAX_ERRORS) found.push(...make(out))
  if (found.length === 0) found.push(...anyError(out))
  return found.length > 0 ? found.slice(0, MAX_FAULTS) : lastWords(out)
}

function lastWords(out: Output): Fault[] {
  const spoken = out.lines.filter((line) => /[\p{L}\p{N}]{2}/u.test(line)).slice(-LAST_WORDS)
  return spoken.map((line) => ({ message: line.trim(), place: null }))
}

export function showErrors(faults: Fault[]): string[] {
  const shown: string[] = []
  for (const one of faults) {
    const text = show(one)
    const said = one.message.replace(/^panic: /, '')
    if (text === '' || shown.some((other) => other === text || other.includes(said))) continue
    shown.push(text)
    if (shown.length === MAX_ERRORS) break
  }
  return shown
}

/** The place is never cut off: it is what a reader opens next. */
function show({ message, place }: Fault): string {
  if (place === null || message.includes(place)) return clip(message)
  const tail = ` (${clip(place, 120)})`
  return clip(message, 240 - tail.length) + tail
}

const PATH_IN_TEXT =
  /(?:^|[\s"'`(])((?:\.{0,2}\/)?(?:[\w@.-]+\/){0,12}[\w@-][\w.@-]{0,80}\.(?:[cm]?[jt]sx?|py|rs|go|java|kt|rb|php|cs|c|cc|cpp|h|hpp|swift|exs?|vue|svelte|sql|tf|ya?ml|json|toml))(?::\d+)*(?=[\s"'`),:;]|$)/g

export function filesOf(faults: Fault[]): string[] {
  const files = faults.flatMap(({ message, place }) => {
    const named = [...clip(message, 400).matchAll(PATH_IN_TEXT)].map(([, path = '']) => path)
    const conflict = /^CONFLICT .* in (\S+)$/.exec(message)?.[1]
    return [place, conflict ?? null, ...named].flatMap((path) => (path === null ? [] : (fileOf(path) ?? [])))
  })
  return unique(files).slice(0, MAX_FILES)
}
