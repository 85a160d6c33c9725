/** Titles (imperative, specific, at most nine words) and subtitles of observations. */

import type { ObservationType } from '../../domain/observation.ts'
import { quotedName, reportedSentence } from '../../domain/reported-speech.ts'
import { pluralize } from '../../lib/format.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { withoutDanglingWords } from '../title-format.ts'
import {
  clipAtWord,
  isTestFile,
  joinList,
  shownFile,
  singleLine,
  stripControlCharacters,
  unique,
  wordList,
} from '../tool-events/text.ts'
import type { CodeChange } from '../tool-events/types.ts'
import { type Episode, episodeErrors, rankChanges, shortCommand } from './episodes.ts'
import type { PromptContext } from './observation.ts'

const MAX_WORDS = 9
const MAX_CHARS = 80

/** Imperative verbs that begin a title. */
const VERBS = new Set(
  wordList(`
  add adjust allow analyse analyze apply avoid bind block build bump cache call cap catch change check clarify
  clean clear close collect commit compare compile compute configure connect consult convert copy correct count
  cover create cut deal debug decide decouple default define delay delete deploy deprecate derive describe detect
  diagnose disable discover do document double downgrade drop dump emit enable encode ensure escape evaluate
  examine exclude expand explain explore export expose extend extract fail fetch filter find finish fix flag
  flatten follow force format forward free generate give guard guide halve handle harden hide hook ignore implement
  import improve include increase index inject inline inspect install instrument integrate introduce invalidate
  investigate isolate keep launch learn let lift limit link lint list load lock log look lower make map mark mask
  match measure memoise memoize merge migrate mock modernise modernize monitor move name narrow normalise normalize
  note observe open optimise optimize order override pack pad parse pass patch persist pick pin plan point poll
  port post prefer prepare preserve prevent print profile propagate protect prove publish pull push put queue raise
  read rebase rebuild record reduce refactor refresh refuse register reject release reload remember remove rename
  render reorder repair replace report reproduce require reserve reset resolve respect restart restore restrict
  restructure retry return reuse revert review revise rewrite roll rotate round route run sanitise sanitize save
  scale schedule search secure select send separate serialise serialize serve set ship show shrink simplify skip
  sort specify speed split stabilise stabilize start stay stick stop store stream strip summarise summarize support
  surface suppress swap switch sync take tell test throttle tidy time touch trace track translate treat trigger
  trim try tune turn type understand undo unify unlock update upgrade upload use validate verify wait warn watch
  widen wire work wrap write
  `),
)

export function startsWithVerb(text: string): boolean {
  const word = /^[A-Za-z]+/.exec(text)?.[0].toLowerCase()
  return word !== undefined && VERBS.has(word)
}

/** Nine words at most, a capital first, no full stop and no dangling preposition at the end. */
export function formatTitle(text: string): string {
  const line = stripControlCharacters(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^[-*•>\s]+/, '')
  const words = line.split(' ').slice(0, MAX_WORDS).join(' ')
  const short = withoutDanglingWords(trimEndMatching(clipAtWord(words, MAX_CHARS), /[\s.,;:–—-]/))
  return short.charAt(0).toUpperCase() + short.slice(1)
}

/** `add totals` for `feat(cart): add totals`. */
export function stripCommitPrefix(subject: string): string {
  return subject.replace(/^(?:feat|fix|chore|docs|refactor|perf|test|build|ci|style|revert)(?:\([^)]*\))?!?:\s*/i, '')
}

const POLITE =
  /^(?:(?:good|nice|perfect|second thing|one more thing|hi|hello|hey|ok|okay|so|now|please|great|thanks|thank you|and|then|also|next|first|well)[,!.:]*\s+)+/i
const REQUEST_FORM =
  /^(?:can|could|would|will) you(?: please)?\s+|^(?:i want|i need|i'd like|we need|we want|we should|let's|you should|go ahead and|try)(?: you)?(?: to)?\s+/i

function stripPoliteness(prompt: string): string {
  return prompt.replace(POLITE, '').replace(REQUEST_FORM, '').replace(POLITE, '')
}

/** The first sentence of the prompt, where it is an imperative. */
export function requestTitle(prompt: string | null): string | null {
  const [first = ''] = prompt?.trim().split(/\n|(?<=[.!?])\s/) ?? []
  const request = trimEndMatching(stripPoliteness(first), /[?!.]/)
  return startsWithVerb(request) && request.split(' ').length > 1 ? formatTitle(request) : null
}

export function composeTitle(
  episode: Episode,
  changes: readonly CodeChange[],
  type: ObservationType,
  message: string | null,
  { prompt, mayUseRequest }: PromptContext,
): string {
  const subject = stripCommitPrefix(message?.split('\n')[0] ?? '')
  if (startsWithVerb(subject) && subject.split(' ').length > 1) return formatTitle(subject)
  const request = mayUseRequest ? requestTitle(prompt) : null
  switch (episode.kind) {
    case 'fix':
      return formatTitle(`Fix ${mainChange(changes) ?? shortCommand(episode.success?.result)}: ${errorName(episode)}`)
    case 'unresolved':
      return formatTitle(`Note failing ${shortCommand(episode.failures.at(-1)?.result)}: ${errorName(episode)}`)
    case 'lookup':
      return request ?? formatTitle(lookupTitle(episode, prompt))
    case 'work':
      return request ?? formatTitle(changeTitle(changes, type))
  }
}

/** The function with the most changes, or else the file; tests last. */
function mainChange(changes: readonly CodeChange[]): string | null {
  const [main] = rankChanges(changes)
  if (main === undefined) return null
  const symbol = main.symbols.find(({ action }) => action === 'modified') ?? main.symbols[0]
  return symbol === undefined ? shownFile(main.file) : `${symbol.name} in ${shownFile(main.file)}`
}

const ERROR_NAME =
  /\b(\w+(?:Error|Exception|Panic|Warning)|error\[\w+\]|TS\d{4}|E\d{4}|SIG[A-Z]+|segmentation fault)\b/i

/** The name of the error, or its first words without the location. */
function errorName(episode: Episode): string {
  const [error = 'failure'] = episodeErrors(episode)
  const words = error.replace(/^[\w./\\-]+[:(]\d+.*?:\s*/, '').split(' ')
  return ERROR_NAME.exec(error)?.[1] ?? reportedSentence('it printed', words.slice(0, 5).join(' '))
}

const QUESTION_WORD = /^(?:how|why|what|where|when|which|who|is|are|does|do|can|could)\b\s*/i

function lookupTitle({ findings, lookups, commands }: Episode, prompt: string | null): string {
  const question = singleLine(stripPoliteness((prompt ?? '').trim()), 200).replace(QUESTION_WORD, '')
  if (question !== '') return `Investigate ${question}`
  const [finding] = findings
  if (finding !== undefined)
    return finding.kind === 'web'
      ? `Consult ${siteName(finding.subject)}`
      : `Learn about ${quotedName(finding.subject)}`
  const search = lookups.find((action) => action.kind === 'search')
  if (search !== undefined) return `Look for ${search.pattern}`
  const files = unique(lookups.flatMap((action) => (action.kind === 'read' ? [shownFile(action.file)] : [])))
  return files.length > 0 ? `Read ${joinList(files, 3)}` : `Run ${shortCommand(commands[0]?.result)}`
}

/** The host of an address, or the words of a web search. */
export function siteName(subject: string): string {
  return /^https?:\/\/(?:www\.)?([^/\s]+)/.exec(subject)?.[1] ?? subject.replace(/^search /, '')
}

function changeTitle(changes: readonly CodeChange[], type: ObservationType): string {
  const [main] = rankChanges(changes)
  if (main === undefined) return 'Change files'
  const file = shownFile(main.file)
  const names = (action: 'new' | 'modified') =>
    joinList(
      main.symbols.flatMap((symbol) => (symbol.action === action ? [symbol.name] : [])),
      2,
    )
  const [added, modified] = [names('new'), names('modified')]
  const [rename] = main.renamed
  const [value] = main.values
  if (rename !== undefined) return `Rename ${rename.from} to ${rename.to} in ${file}`
  if (main.kind === 'deleted') return `Delete ${file}`
  if (isTestFile(main.file)) return `Test ${added || 'behaviour'} in ${file}`
  if (main.kind === 'created') return `Create ${file}${added && ` with ${added}`}`
  if (added) return `Add ${added} to ${file}`
  const verb = type === 'refactor' ? 'Refactor' : type === 'bugfix' ? 'Fix' : 'Change'
  if (modified) return `${verb} ${modified} in ${file}`
  if (value?.to === null) return `Remove ${value.name} from ${file}`
  if (value !== undefined) return `Set ${value.name} to ${value.to} in ${file}`
  return `${main.language === 'markdown' ? 'Document' : 'Update'} ${file}`
}

/** The result of the last command, or else the size of the change. */
export function composeSubtitle(episode: Episode, changes: readonly CodeChange[]): string | null {
  const result =
    episode.success?.result ?? episode.commands.findLast((command) => command.result.headline !== null)?.result
  if (result !== undefined && result.headline !== null)
    return clipAtWord(`${shortCommand(result)}: ${result.headline}`, 80)
  if (changes.length > 0) {
    const added = changes.reduce((total, change) => total + change.linesAdded, 0)
    const removed = changes.reduce((total, change) => total + change.linesRemoved, 0)
    return `${pluralize(changes.length, 'file')}, +${added} −${removed}`
  }
  if (episode.kind === 'lookup')
    return `${pluralize(episode.lookups.length + episode.findings.length, 'look')} without a change`
  return episode.failures[0] === undefined ? null : clipAtWord(episode.failures[0].result.command, 80)
}
