/** From an episode to the note about it. */
import { type FunctionChange, type ObservationDraft, type ObservationType, tokensOf } from '../../memory/observation.ts'
import { reasonIn } from './decisions.ts'
import type { Episode } from './episodes.ts'
import { changeFacts, changesByFile, commandFacts, findingFacts, MAX_FUNCTIONS } from './facts.ts'
import { baseName, cut, isTestFile, listed, oneLine, plural, sentencesOf, unique } from './text.ts'
import { gistOf, requestTitle, startsWithVerb, titleOf, withoutLabel } from './titles.ts'
import type { CodeChange, CommandResult } from './types.ts'

export interface Setting {
  prompt: string | null
  /** The turn's request is one episode's title at most: the largest one's. */
  mayUseRequest: boolean
}

const FIX_WORDS =
  /\b(?:fix|bug|broken|fail(?:s|ed|ing|ure)?|error|crash(?:es|ed)?|wrong|issue|regression|doesn'?t work|not work)/i
const REFACTOR_WORDS =
  /\b(?:refactor|rename|extract|clean ?up|restructure|simplif|split|move|inline|dedup|deduplicate|reorgani[sz]e)/i
const MAX_NARRATIVE_CHARS = 480
const MAX_LISTED_FILES = 3

export function observationOf(episode: Episode, setting: Setting): ObservationDraft {
  const changes = changesByFile(episode.edits)
  const type = typeOf(episode, changes, setting)
  const message = episode.commit === null ? null : commitMessage(episode.commit.result)
  const everything = [
    ...episode.edits,
    ...episode.failures,
    ...episode.commands,
    ...episode.looked,
    ...episode.found,
    ...episode.stumbles,
  ]
  if (episode.commit !== null) everything.push(episode.commit)
  if (episode.success !== null) everything.push(episode.success)
  const size = everything.reduce((total, action) => total + action.size, 0)
  return {
    type,
    title: titleFor(episode, changes, type, message, setting),
    subtitle: subtitleFor(episode, changes),
    narrative: cut(narrativeFor(episode, changes, message, setting), MAX_NARRATIVE_CHARS),
    facts: unique(factsFor(episode, changes)),
    concepts: conceptsFor(episode, type, message),
    filesRead: filesRead(episode, changes),
    filesModified: changes.map((change) => change.file),
    functionsChanged: functionsOf(changes),
    agent: onlyAgent(everything.map((action) => action.agent)),
    discoveryTokens: tokensOf(size),
    discoveryEstimated: true,
    sources: unique(everything.map((action) => action.id)),
  }
}

function typeOf(episode: Episode, changes: readonly CodeChange[], { prompt }: Setting): ObservationType {
  if (episode.kind === 'fix') return 'bugfix'
  if (episode.kind === 'open' || episode.kind === 'look') return changes.length === 0 ? 'discovery' : 'change'
  const words = `${prompt ?? ''} ${episode.commit?.result.facts.join(' ') ?? ''}`
  const symbols = changes.flatMap((change) => change.symbols)
  const code = changes.some((change) => change.language !== null && !PROSE.has(change.language))
  if (!code) return 'change'
  if (REFACTOR_WORDS.test(words) && !FIX_WORDS.test(words)) return 'refactor'
  if (FIX_WORDS.test(words)) return 'bugfix'
  if (changes.some((change) => change.renamed.length > 0) && symbols.every((symbol) => symbol.action !== 'new'))
    return 'refactor'
  return symbols.some((symbol) => symbol.action === 'new') || changes.some((change) => change.kind === 'created')
    ? 'feature'
    : 'change'
}

const PROSE = new Set(['markdown', 'json', 'yaml', 'toml', 'ini', 'env', 'text'])

// ---- title and subtitle ------------------------------------------------------------------------------------

function titleFor(
  episode: Episode,
  changes: readonly CodeChange[],
  type: ObservationType,
  message: string | null,
  setting: Setting,
): string {
  const subject = message === null ? null : withoutLabel(message.split('\n')[0] ?? '')
  if (subject !== null && startsWithVerb(subject) && subject.split(' ').length > 1) return titleOf(subject)
  const request = setting.mayUseRequest ? requestTitle(setting.prompt) : null
  if (episode.kind === 'fix') return fixTitle(episode, changes)
  if (episode.kind === 'open')
    return titleOf(`Note failing ${shortCommand(episode.failures.at(-1)?.result)}: ${errorWords(episode)}`)
  if (episode.kind === 'look') return request ?? lookTitle(episode, setting.prompt)
  return request ?? changeTitle(changes, type)
}

function fixTitle(episode: Episode, changes: readonly CodeChange[]): string {
  const place = mainPlace(changes)
  if (place !== null) return titleOf(`Fix ${place}: ${errorWords(episode)}`)
  return titleOf(`Fix ${shortCommand(episode.success?.result)}: ${errorWords(episode)}`)
}

/** The function that was mended, else the file. Tests are mended last. */
function mainPlace(changes: readonly CodeChange[]): string | null {
  const [main] = ranked(changes)
  if (main === undefined) return null
  const symbol = main.symbols.find((one) => one.action === 'modified') ?? main.symbols[0]
  return symbol === undefined ? baseName(main.file) : `${symbol.name} in ${baseName(main.file)}`
}

/** The work before its tests, the most changed first. */
function ranked(changes: readonly CodeChange[]): CodeChange[] {
  return [...changes].sort((a, b) => Number(isTestFile(a.file)) - Number(isTestFile(b.file)) || weight(b) - weight(a))
}

function weight(change: CodeChange): number {
  return change.linesAdded + change.linesRemoved + change.symbols.length * 3
}

/** The name of the error, or its first words. */
function errorWords(episode: Episode): string {
  const [error = 'failure'] = errorsOf(episode)
  const named =
    /\b(\w+(?:Error|Exception|Panic|Warning)|error\[\w+\]|TS\d{4}|E\d{4}|SIG[A-Z]+|segmentation fault)\b/i.exec(
      error,
    )?.[1]
  return (
    named ??
    error
      .replace(/^[\w./\\-]+[:(]\d+.*?:\s*/, '')
      .split(' ')
      .slice(0, 5)
      .join(' ')
  )
}

/** What went wrong, most telling first. That make gave up says nothing; what it gave up on does. */
function errorsOf({ failures, carried }: Episode): string[] {
  const empty = /^make(?:\[\d+\])?:|\b0 (?:failures|errors|failed)\b|^(?:npm (?:ERR!|error)|exit code|error:? command)/i
  const errors = unique([...failures.flatMap((failure) => failure.result.errors), ...(carried?.errors ?? [])])
  return errors.sort((one, other) => Number(empty.test(one)) - Number(empty.test(other)))
}

function shortCommand(result: CommandResult | undefined): string {
  return (result?.command ?? 'command').split(' ').slice(0, 3).join(' ')
}

function lookTitle(episode: Episode, prompt: string | null): string {
  const about = oneLine(gistOf(prompt ?? ''), 200).replace(QUESTION_WORD, '')
  if (about !== '') return titleOf(`Investigate ${about}`)
  const [found] = episode.found
  if (found !== undefined)
    return titleOf(found.do === 'web' ? `Consult ${siteOf(found.subject)}` : `Learn about ${found.subject}`)
  const search = episode.looked.find((action) => action.do === 'search')
  if (search !== undefined) return titleOf(`Look for ${search.pattern}`)
  const files = unique(episode.looked.flatMap((action) => (action.do === 'read' ? [baseName(action.file)] : [])))
  return titleOf(files.length > 0 ? `Read ${listed(files, 3)}` : `Run ${shortCommand(episode.commands[0]?.result)}`)
}

const QUESTION_WORD = /^(?:how|why|what|where|when|which|who|is|are|does|do|can|could)\b\s*/i

/** An address is no title; whose it is may be one. */
function siteOf(subject: string): string {
  return /^https?:\/\/(?:www\.)?([^/\s]+)/.exec(subject)?.[1] ?? subject.replace(/^search /, '')
}

function changeTitle(changes: readonly CodeChange[], type: ObservationType): string {
  const [main] = ranked(changes)
  if (main === undefined) return 'Change files'
  const place = baseName(main.file)
  const [rename] = main.renamed
  if (rename !== undefined) return titleOf(`Rename ${rename.from} to ${rename.to} in ${place}`)
  if (main.kind === 'deleted') return titleOf(`Delete ${place}`)
  const names = main.symbols.filter((symbol) => symbol.action === 'new').map((symbol) => symbol.name)
  if (isTestFile(main.file)) return titleOf(`Test ${names.length > 0 ? listed(names, 2) : 'behaviour'} in ${place}`)
  if (main.kind === 'created') return titleOf(`Create ${place}${names.length > 0 ? ` with ${listed(names, 2)}` : ''}`)
  if (names.length > 0) return titleOf(`Add ${listed(names, 2)} to ${place}`)
  const [value] = main.values
  const changed = main.symbols.filter((symbol) => symbol.action === 'modified').map((symbol) => symbol.name)
  if (changed.length > 0)
    return titleOf(
      `${type === 'refactor' ? 'Refactor' : type === 'bugfix' ? 'Fix' : 'Change'} ${listed(changed, 2)} in ${place}`,
    )
  if (value !== undefined)
    return titleOf(
      value.to === null ? `Remove ${value.name} from ${place}` : `Set ${value.name} to ${value.to} in ${place}`,
    )
  return titleOf(`${main.language === 'markdown' ? 'Document' : 'Update'} ${place}`)
}

/** How it ended, in a few words. */
function subtitleFor(episode: Episode, changes: readonly CodeChange[]): string | null {
  const result =
    episode.success?.result ?? episode.commands.findLast((command) => command.result.headline !== null)?.result
  if (result !== undefined && result.headline !== null) return cut(`${shortCommand(result)}: ${result.headline}`, 80)
  if (changes.length > 0) {
    const lines = (pick: (change: CodeChange) => number) => changes.reduce((total, change) => total + pick(change), 0)
    return `${plural(changes.length, 'file')}, +${lines((change) => change.linesAdded)} −${lines((change) => change.linesRemoved)}`
  }
  if (episode.kind === 'look') return `${plural(episode.looked.length + episode.found.length, 'look')} without a change`
  return episode.failures[0] === undefined ? null : cut(episode.failures[0].result.command, 80)
}

// ---- narrative and facts -----------------------------------------------------------------------------------

function narrativeFor(
  episode: Episode,
  changes: readonly CodeChange[],
  message: string | null,
  setting: Setting,
): string {
  // The body of a commit says why; where there is none, the request does.
  const why = sentencesOf(bodyOf(message)).slice(0, MAX_BODY_SENTENCES)
  const asked =
    why.length === 0 && setting.mayUseRequest && setting.prompt !== null
      ? [`Asked: ${oneLine(setting.prompt, 120)}`]
      : []
  const problem = problemOf(episode)
  const place = episode.kind === 'fix' && changes.length > 0 ? [`Fixed in ${listed(changes.map(told), 2)}.`] : []
  const looked = episode.kind === 'look' ? lookedFor(episode) : []
  const sentences = [...(problem === null ? [] : [problem]), ...place, ...looked, ...why, ...asked]
  if (sentences.length > 0) return sentences.join(' ')
  return changes.length > 0 ? `Changed ${listed(changes.map(told), 2)}.` : (episode.found.flatMap(foundFacts)[0] ?? '')
}

const MAX_BODY_SENTENCES = 5

function bodyOf(message: string | null): string {
  return message?.split('\n').slice(1).join('\n') ?? ''
}

function told(change: CodeChange): string {
  const names = change.symbols.map((symbol) => symbol.name)
  return names.length > 0 ? `${listed(names, 2)} in ${baseName(change.file)}` : baseName(change.file)
}

function problemOf(episode: Episode): string | null {
  const [first] = episode.failures
  const [error] = errorsOf(episode)
  const command = first?.result.command ?? episode.carried?.command
  if (command === undefined) return null
  const times = episode.failures.length > 1 ? ` (${episode.failures.length} times)` : ''
  return `\`${cut(command, 80)}\` failed${times}${error === undefined ? '' : `: ${cut(error, 180)}`}.`
}

function lookedFor(episode: Episode): string[] {
  const searches = episode.looked.flatMap((action) =>
    action.do === 'search' ? [`"${action.pattern}" (${plural(action.count ?? 0, 'file')})`] : [],
  )
  return searches.length > 0 ? [`Looked for ${listed(unique(searches), 4)}.`] : []
}

function factsFor(episode: Episode, changes: readonly CodeChange[]): string[] {
  const errors = errorsOf(episode)
  const telling = (file: string) =>
    episode.edits.filter((edit) => edit.change.file === file).flatMap((edit) => edit.telling)
  return [
    // A commit's message is the title and the narrative; where it is, is not.
    ...(episode.commit === null ? [] : commandFacts(episode.commit).slice(0, 1)),
    // The first error is in the narrative.
    ...errors.slice(1, 3),
    ...byTurns(
      ranked(changes).map((change) => changeFacts(change, isTestFile(change.file) ? [] : telling(change.file))),
    ),
    ...episode.commands.flatMap(commandFacts),
    ...(episode.success?.result.facts ?? []),
    ...episode.found.flatMap(foundFacts),
    ...episode.stumbles.map((stumble) => `${stumble.tool} failed on ${stumble.subject}: ${stumble.error}`),
    ...searchFacts(episode),
  ]
}

/** The first of each, then the second of each: no file crowds out the others. */
function byTurns(lists: readonly string[][]): string[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat()
}

function foundFacts({ subject, found }: Episode['found'][number]): string[] {
  const facts = findingFacts(found, 4)
  return facts.map((fact, i) => (i === 0 && subject !== '' ? cut(`${subject}: ${fact}`, 300) : fact))
}

function searchFacts(episode: Episode): string[] {
  if (episode.kind !== 'look') return []
  return episode.looked.flatMap((action) =>
    action.do === 'search' && action.files.length > 0 && action.files.length <= 6
      ? [`"${action.pattern}" is in ${listed(action.files, 4)}`]
      : [],
  )
}

/** The commit's own words, as far as the command shows them. */
function commitMessage(result: CommandResult): string | null {
  return result.message ?? null
}

// ---- the rest ----------------------------------------------------------------------------------------------

function conceptsFor(episode: Episode, type: ObservationType, message: string | null): string[] {
  const concepts: string[] = []
  if (episode.kind === 'fix') concepts.push('problem-solution')
  if (episode.kind === 'open') concepts.push('gotcha')
  if (episode.kind === 'look') concepts.push('how-it-works')
  if (episode.kind === 'work') concepts.push('what-changed')
  if (type === 'refactor') concepts.push('pattern')
  if (message !== null && reasonIn(message) !== null) concepts.push('why-it-exists')
  return concepts
}

function filesRead(episode: Episode, changes: readonly CodeChange[]): string[] {
  const modified = new Set(changes.map((change) => change.file))
  const read = episode.looked.flatMap((action) => (action.do === 'read' ? [action.file] : []))
  return unique(read.filter((file) => file !== '' && !modified.has(file))).slice(0, MAX_LISTED_FILES)
}

function functionsOf(changes: readonly CodeChange[]): FunctionChange[] {
  const code = changes.filter((change) => !isTestFile(change.file))
  return (code.length > 0 ? code : changes).flatMap((change) => change.symbols).slice(0, MAX_FUNCTIONS)
}

/** A note that is a subagent's alone says so. */
function onlyAgent(agents: readonly (string | null)[]): string | null {
  const distinct = unique(agents)
  return distinct.length === 1 ? (distinct[0] ?? null) : null
}
