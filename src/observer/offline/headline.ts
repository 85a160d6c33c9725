/** What a note is called, and how it ended in a few words. */
import type { ObservationType } from '../../memory/observation.ts'
import type { Setting } from './compose.ts'
import { errorsOf, ranked, shortCommand } from './episode-parts.ts'
import type { Episode } from './episodes.ts'
import { baseName, cut, isTestFile, listed, oneLine, plural, unique } from './text.ts'
import { gistOf, requestTitle, startsWithVerb, titleOf, withoutLabel } from './titles.ts'
import type { CodeChange } from './types.ts'

export function titleFor(
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
export function subtitleFor(episode: Episode, changes: readonly CodeChange[]): string | null {
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
