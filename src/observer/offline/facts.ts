/** Atomic sentences about what was done, most telling first. Each stands by itself: it names its file. */
import type { Of } from './episodes.ts'
import type { Telling } from './telling.ts'
import { baseName, cut, listed, oneLine, sentencesOf, unique } from './text.ts'
import type { CodeChange } from './types.ts'

const MAX_FACT_CHARS = 160
const MAX_VALUES = 4
const MAX_LINES = 3
const MAX_NOTABLE = 4
/** Functions listed with a note; more are told by the file they are in. */
export const MAX_FUNCTIONS = 4

/** The changes to one file together, however many edits they took. */
export function changesByFile(edits: readonly Of<'edit'>[]): CodeChange[] {
  const files = new Map<string, CodeChange>()
  for (const { change } of edits) {
    const known = files.get(change.file)
    files.set(change.file, known === undefined ? change : together(known, change))
  }
  return [...files.values()]
}

function together(a: CodeChange, b: CodeChange): CodeChange {
  const symbols = new Map([...b.symbols, ...a.symbols].map((symbol) => [symbol.name, symbol]))
  // A symbol that came and then changed is still new; one that went in the end is gone.
  for (const { name, action } of b.symbols) {
    const first = a.symbols.find((symbol) => symbol.name === name)
    const known = symbols.get(name)
    if (known !== undefined && first !== undefined)
      symbols.set(name, { ...known, action: action === 'deleted' ? 'deleted' : first.action })
  }
  return {
    ...a,
    kind: a.kind === 'created' ? 'created' : b.kind,
    symbols: [...symbols.values()],
    renamed: [...a.renamed, ...b.renamed],
    values: valuesTogether([...a.values, ...b.values]),
    imports: {
      added: unique([...a.imports.added, ...b.imports.added]),
      removed: unique([...a.imports.removed, ...b.imports.removed]),
    },
    notable: unique([...a.notable, ...b.notable]),
    linesAdded: a.linesAdded + b.linesAdded,
    linesRemoved: a.linesRemoved + b.linesRemoved,
  }
}

function valuesTogether(values: CodeChange['values']): CodeChange['values'] {
  const byName = new Map<string, CodeChange['values'][number]>()
  for (const value of values) {
    const first = byName.get(value.name)
    byName.set(value.name, first === undefined ? value : { ...value, from: first.from })
  }
  return [...byName.values()].filter(({ from, to }) => from !== to)
}

/** What a reader could not tell from the lists of files and functions. */
export function changeFacts(change: CodeChange, telling: readonly Telling[]): string[] {
  const place = baseName(change.file)
  const lines = unique([...telling].sort((a, b) => b.weight - a.weight).map((line) => line.text)).slice(0, MAX_LINES)
  return [
    ...symbolFacts(change),
    ...lines.map((line) => `${place}: ${line}`),
    ...change.renamed.map(({ from, to }) => `Renames ${from} to ${to}`),
    ...valueFacts(change).filter((fact) => !lines.some((line) => sameValue(line, fact))),
    ...change.notable.slice(0, MAX_NOTABLE),
    ...importFacts(change),
  ].map((fact) => cut(fact, MAX_FACT_CHARS))
}

/** A line that is quoted already has the value in it. */
function sameValue(line: string, fact: string): boolean {
  const value = fact
    .split(/→ | to | is /)
    .at(-1)
    ?.replace(/ in \S+$/, '')
  return value !== undefined && value.length > 1 && line.includes(value)
}

/** Packages tell; files of one's own are in the lists. */
function importFacts({ file, imports, kind }: CodeChange): string[] {
  if (kind === 'created') return []
  const foreign = (names: readonly string[]) => names.filter((name) => !/^[./~@]/.test(name))
  const [added, removed] = [foreign(imports.added), foreign(imports.removed)]
  return [
    ...(added.length > 0 ? [`${baseName(file)} imports ${listed(added, 4)}`] : []),
    ...(removed.length > 0 ? [`${baseName(file)} no longer imports ${listed(removed, 4)}`] : []),
  ]
}

/** The functions themselves are listed with the note; what is left is what came with a new file or went. */
function symbolFacts({ file, kind, symbols }: CodeChange): string[] {
  const names = symbols.map((symbol) => symbol.name)
  if (kind === 'created') return names.length > MAX_FUNCTIONS ? [`${baseName(file)} has ${listed(names, 8)}`] : []
  if (kind === 'deleted') return [`Deletes ${file}`]
  return []
}

function valueFacts({ file, values, kind }: CodeChange): string[] {
  const place = baseName(file)
  return values.slice(0, MAX_VALUES).map(({ name, from, to }) => {
    if (from === null) return kind === 'created' ? `${name} is ${to} in ${place}` : `${place} sets ${name} to ${to}`
    if (to === null) return `${place} no longer has ${name} (was ${from})`
    return `${name} in ${place}: ${from} → ${to}`
  })
}

/** What a command said, if anything. */
export function commandFacts({ result, said }: Of<'command'>): string[] {
  const { headline, facts, command, ok } = result
  const name = `\`${cut(command, 60)}\``
  const told = headline === null || facts.some((fact) => fact.includes(headline)) ? [] : [`${name}: ${headline}`]
  const failed = ok ? [] : result.errors.slice(0, 2).map((error) => `${name} failed: ${error}`)
  const answer = said === null || told.length > 0 || facts.length > 0 ? [] : [`${name}: ${said}`]
  return [...facts, ...told, ...failed, ...answer].map((fact) => oneLine(fact, MAX_FACT_CHARS))
}

/** The sentences of a finding that carry something: a name, a number, a cause. */
export function findingFacts(text: string, most: number): string[] {
  const sentences = sentencesOf(text).filter((sentence) => sentence.length > 15)
  const weighed = sentences.map((sentence, i) => ({ sentence, i, weight: weightOf(sentence) }))
  const best = weighed.sort((a, b) => b.weight - a.weight || a.i - b.i).slice(0, most)
  return best.sort((a, b) => a.i - b.i).map(({ sentence }) => cut(sentence, MAX_FACT_CHARS))
}

const CAUSES =
  /\b(?:because|cause[sd]?|due to|since|therefore|so that|means|root|found|turns out|requires?|must|default|deprecated|instead|bug|fix(?:ed|es)?|leak|race|limit|never|only|breaks?)\b/i

/** Names in code, numbers, paths and causes are what one looks for later. */
export function weightOf(sentence: string): number {
  const names = sentence.match(/`[^`]+`|\b[a-z]+[A-Z]\w+|\b\w+_\w+|\b\w+\(\)|[\w-]+\/[\w./-]+/g)?.length ?? 0
  const numbers = sentence.match(/\d+(?:\.\d+)*/g)?.length ?? 0
  return Math.min(names, 4) * 2 + Math.min(numbers, 3) + (CAUSES.test(sentence) ? 3 : 0)
}
