/** Facts and narrative of an observation. A fact is a sentence that is understood alone; most informative first. */
import { quotedName, reportedSentence } from '../../domain/reported-speech.ts'
import { pluralize } from '../../lib/format.ts'
import type { SignificantLine } from '../tool-events/file-edit.ts'
import { clipAtWord, isTestFile, joinList, shownFile, singleLine, splitSentences, unique } from '../tool-events/text.ts'
import type { CodeChange, ValueChange } from '../tool-events/types.ts'
import { type ActionOf, type Episode, episodeErrors, rankChanges } from './episodes.ts'
import type { PromptContext } from './observation.ts'
import { siteName } from './titles.ts'

const MAX_FACT_CHARS = 160
const MAX_VALUE_FACTS = 4
const MAX_QUOTED_LINES = 3
const MAX_NOTABLE_FACTS = 4
const MAX_FINDING_FACTS = 4
/** Sentences of a commit's body in the narrative. */
const MAX_BODY_SENTENCES = 5
/** Functions listed with an observation. */
export const MAX_LISTED_FUNCTIONS = 4

export function composeNarrative(
  episode: Episode,
  changes: readonly CodeChange[],
  message: string | null,
  { prompt, mayUseRequest }: PromptContext,
): string {
  const files = joinList(changes.map(changeWithFile), 2)
  // The body of a commit gives the reason; without one, the request does.
  const body = message?.split('\n').slice(1).join('\n') ?? ''
  const reason = splitSentences(body).slice(0, MAX_BODY_SENTENCES)
  if (reason.length === 0 && mayUseRequest && prompt !== null) reason.push(`Asked: ${singleLine(prompt, 120)}`)
  const sentences = [
    ...problemSentence(episode),
    ...(episode.kind === 'fix' && changes.length > 0 ? [`Fixed in ${files}.`] : []),
    ...(episode.kind === 'lookup' ? searchSentence(episode) : []),
    ...reason,
  ]
  if (sentences.length > 0) return sentences.join(' ')
  return changes.length > 0 ? `Changed ${files}.` : (episode.findings.flatMap(findingFacts)[0] ?? '')
}

function changeWithFile({ file, symbols }: CodeChange): string {
  const names = symbols.map((symbol) => symbol.name)
  return names.length > 0 ? `${joinList(names, 2)} in ${shownFile(file)}` : shownFile(file)
}

function problemSentence(episode: Episode): string[] {
  const [error] = episodeErrors(episode)
  const command = episode.failures[0]?.result.command ?? episode.carried?.command
  if (command === undefined) return []
  const times = episode.failures.length > 1 ? ` (${episode.failures.length} times)` : ''
  const reason = error === undefined ? '' : `: ${reportedSentence('it printed', clipAtWord(error, 180))}`
  return [`\`${clipAtWord(command, 80)}\` failed${times}${reason}.`]
}

function searchSentence({ lookups }: Episode): string[] {
  const searches = lookups.flatMap((action) =>
    action.kind === 'search' ? [`"${action.pattern}" (${pluralize(action.count ?? 0, 'file')})`] : [],
  )
  return searches.length > 0 ? [`Looked for ${joinList(unique(searches), 4)}.`] : []
}

export function composeFacts(episode: Episode, changes: readonly CodeChange[]): string[] {
  const quotable = (file: string) =>
    isTestFile(file)
      ? []
      : episode.edits.filter((edit) => edit.change.file === file).flatMap((edit) => edit.significant)
  return [
    // The message of a commit is already the title and the narrative; its hash and branch are not.
    ...(episode.commit === null ? [] : commandFacts(episode.commit).slice(0, 1)),
    // The first error is in the narrative.
    ...episodeErrors(episode)
      .slice(1, 3)
      .map((error) => reportedSentence('The command printed', error)),
    ...interleave(rankChanges(changes).map((change) => changeFacts(change, quotable(change.file)))),
    ...episode.commands.flatMap(commandFacts),
    ...(episode.success?.result.facts ?? []).map((fact) => reportedSentence('The command printed', fact)),
    ...episode.findings.flatMap(findingFacts),
    ...episode.toolFailures.map(
      ({ tool, subject, error }) =>
        `${quotedName(tool)} failed on ${quotedName(subject)}: ${reportedSentence('it said', error)}`,
    ),
    ...(episode.kind === 'lookup' ? searchFacts(episode) : []),
  ]
}

/** The first of each list, then the second of each, so that no file displaces the others. */
function interleave(lists: readonly string[][]): string[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat()
}

function searchFacts({ lookups }: Episode): string[] {
  return lookups.flatMap((action) =>
    action.kind === 'search' && action.files.length > 0 && action.files.length <= 6
      ? [`"${action.pattern}" is in ${joinList(action.files, 4)}`]
      : [],
  )
}

/** All edits of a file as one change. */
export function changesByFile(edits: readonly ActionOf<'edit'>[]): CodeChange[] {
  const files = new Map<string, CodeChange>()
  for (const { change } of edits) {
    const known = files.get(change.file)
    files.set(change.file, known === undefined ? change : mergeChanges(known, change))
  }
  return [...files.values()]
}

function mergeChanges(a: CodeChange, b: CodeChange): CodeChange {
  const symbols = new Map([...b.symbols, ...a.symbols].map((symbol) => [symbol.name, symbol]))
  // A symbol that was added and then modified is new; one that was deleted in the end is deleted.
  for (const { name, action } of b.symbols) {
    const first = a.symbols.find((symbol) => symbol.name === name)
    if (first !== undefined) symbols.set(name, { ...first, action: action === 'deleted' ? action : first.action })
  }
  return {
    ...a,
    kind: a.kind === 'created' ? 'created' : b.kind,
    symbols: [...symbols.values()],
    renamed: [...a.renamed, ...b.renamed],
    values: mergeValues([...a.values, ...b.values]),
    imports: {
      added: unique([...a.imports.added, ...b.imports.added]),
      removed: unique([...a.imports.removed, ...b.imports.removed]),
    },
    notable: unique([...a.notable, ...b.notable]),
    linesAdded: a.linesAdded + b.linesAdded,
    linesRemoved: a.linesRemoved + b.linesRemoved,
  }
}

/** From the first value of each name to its last. */
function mergeValues(values: ValueChange[]): ValueChange[] {
  const byName = new Map<string, ValueChange>()
  for (const value of values) {
    const first = byName.get(value.name)
    byName.set(value.name, first === undefined ? value : { ...value, from: first.from })
  }
  return [...byName.values()].filter(({ from, to }) => from !== to)
}

/** What the lists of files and functions do not show. */
function changeFacts(change: CodeChange, significant: readonly SignificantLine[]): string[] {
  const { file, kind, symbols } = change
  const byWeight = [...significant].sort((a, b) => b.weight - a.weight)
  const lines = unique(byWeight.map((line) => line.text)).slice(0, MAX_QUOTED_LINES)
  const names = symbols.map((symbol) => symbol.name)
  return [
    ...(kind === 'created' && names.length > MAX_LISTED_FUNCTIONS
      ? [`${shownFile(file)} has ${joinList(names, 8)}`]
      : []),
    ...(kind === 'deleted' ? [`Deletes ${quotedName(file)}`] : []),
    ...lines.map((line) => `${shownFile(file)}: ${line}`),
    ...change.renamed.map(({ from, to }) => `Renames ${from} to ${to}`),
    ...valueFacts(change).filter((fact) => !lines.some((line) => containsValue(line, fact))),
    ...change.notable.slice(0, MAX_NOTABLE_FACTS),
    ...importFacts(change),
  ].map((fact) => clipAtWord(fact, MAX_FACT_CHARS))
}

function valueFacts({ file, values, kind }: CodeChange): string[] {
  const name = shownFile(file)
  return values.slice(0, MAX_VALUE_FACTS).map((value) => {
    if (value.from === null)
      return kind === 'created'
        ? `${value.name} is ${value.to} in ${name}`
        : `${name} sets ${value.name} to ${value.to}`
    if (value.to === null) return `${name} no longer has ${value.name} (was ${value.from})`
    return `${value.name} in ${name}: ${value.from} → ${value.to}`
  })
}

/** Whether a quoted line already shows the value of the fact. */
function containsValue(line: string, fact: string): boolean {
  const value = fact
    .split(/→ | to | is /)
    .at(-1)
    ?.replace(/ in \S+$/, '')
  return value !== undefined && value.length > 1 && line.includes(value)
}

/** Imports of packages, not of the project's own files. */
function importFacts({ file, imports, kind }: CodeChange): string[] {
  if (kind === 'created') return []
  const sentence = (verb: string, modules: readonly string[]) => {
    const packages = modules.filter((name) => !/^[./~@]/.test(name))
    return packages.length > 0 ? [`${shownFile(file)} ${verb} ${joinList(packages, 4)}`] : []
  }
  return [...sentence('imports', imports.added), ...sentence('no longer imports', imports.removed)]
}

function commandFacts({ result, answer }: ActionOf<'command'>): string[] {
  const { headline, facts, command, errors, ok, kind } = result
  const name = `\`${clipAtWord(command, 60)}\``
  const repeated = headline === null || facts.some((fact) => fact.includes(headline))
  const printed = (text: string) => reportedSentence('it printed', text)
  return [
    // The message of a commit is the agent's own.
    ...facts.map((fact) => (kind === 'commit' ? fact : reportedSentence(`${name} printed`, fact))),
    ...(repeated ? [] : [`${name}: ${printed(headline)}`]),
    ...(ok ? [] : errors.slice(0, 2).map((error) => `${name} failed: ${printed(error)}`)),
    ...(answer === null || !repeated || facts.length > 0 ? [] : [`${name}: ${printed(answer)}`]),
  ].map((fact) => singleLine(fact, MAX_FACT_CHARS))
}

/** The most informative sentences of a finding, in their order. */
function findingFacts(finding: Episode['findings'][number]): string[] {
  const { subject, found } = finding
  const sentences = splitSentences(found).filter((sentence) => sentence.length > 15)
  return sentences
    .map((sentence, i) => ({ sentence, i, weight: sentenceWeight(sentence) }))
    .sort((a, b) => b.weight - a.weight || a.i - b.i)
    .slice(0, MAX_FINDING_FACTS)
    .sort((a, b) => a.i - b.i)
    .map(({ sentence }) => reportedSentence(findingSource(finding), clipAtWord(sentence, MAX_FACT_CHARS)))
    .map((fact, i) => (i === 0 && subject !== '' ? clipAtWord(`${quotedName(subject)}: ${fact}`, 300) : fact))
}

/** Who says it, for a sentence in quotation marks. */
function findingSource(finding: Episode['findings'][number]): string {
  if (finding.kind === 'web')
    return finding.subject.startsWith('search ') ? 'a page says' : `${siteName(finding.subject)} says`
  return finding.kind === 'agent' ? 'a subagent says' : `${quotedName(finding.tool)} says`
}

const CAUSES =
  /\b(?:because|cause[sd]?|due to|since|therefore|so that|means|root|found|turns out|requires?|must|default|deprecated|instead|bug|fix(?:ed|es)?|leak|race|limit|never|only|breaks?)\b/i

/** Names in code, numbers, paths and causes are what one searches for later. */
export function sentenceWeight(sentence: string): number {
  const names =
    sentence.match(/`[^`]+`|\b[a-z]{1,64}[A-Z]\w+|\b[^\W_]{1,64}_\w+|\b\w{1,64}\(\)|(?<![\w-])[\w-]{1,128}\/[\w./-]+/g)
      ?.length ?? 0
  const numbers = sentence.match(/\d+(?:\.\d+)*/g)?.length ?? 0
  return Math.min(names, 4) * 2 + Math.min(numbers, 3) + (CAUSES.test(sentence) ? 3 : 0)
}
