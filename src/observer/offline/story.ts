/** What happened and why, and the facts that no list says. */
import type { Setting } from './compose.ts'
import { errorsOf, ranked } from './episode-parts.ts'
import type { Episode } from './episodes.ts'
import { changeFacts, commandFacts, findingFacts } from './facts.ts'
import { baseName, cut, isTestFile, listed, oneLine, plural, sentencesOf, unique } from './text.ts'
import type { CodeChange } from './types.ts'

export function narrativeFor(
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

export function factsFor(episode: Episode, changes: readonly CodeChange[]): string[] {
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
