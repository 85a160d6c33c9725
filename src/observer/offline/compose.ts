/** From an episode to the note about it. */
import { type FunctionChange, type ObservationDraft, type ObservationType, tokensOf } from '../../memory/observation.ts'
import { reasonIn } from './decisions.ts'
import type { Episode } from './episodes.ts'
import { changesByFile, MAX_FUNCTIONS } from './facts.ts'
import { subtitleFor, titleFor } from './headline.ts'
import { factsFor, narrativeFor } from './story.ts'
import { cut, isTestFile, unique } from './text.ts'
import type { CodeChange } from './types.ts'

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
  const message = episode.commit?.result.message ?? null
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
