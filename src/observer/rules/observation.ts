/** The observation about an episode, and the size that all observations of a batch may have. */
import {
  type FunctionChange,
  type ObservationDraft,
  type ObservationType,
  tokensForChars,
} from '../../domain/observation.ts'
import { clipAtWord, isTestFile, statedReason, unique } from '../tool-events/text.ts'
import type { CodeChange } from '../tool-events/types.ts'
import type { Episode } from './episodes.ts'
import { changesByFile, composeFacts, composeNarrative, MAX_LISTED_FUNCTIONS } from './facts.ts'
import { composeSubtitle, composeTitle } from './titles.ts'

export interface PromptContext {
  /** The user's own words, without what was quoted or pasted. */
  prompt: string | null
  wholePrompt: string | null
  /** The request of the turn is the title of its largest episode only. */
  mayUseRequest: boolean
}

const FIX_WORDS =
  /\b(?:fix|bug|broken|fail(?:s|ed|ing|ure)?|error|crash(?:es|ed)?|wrong|issue|regression|doesn'?t work|not work)/i
const REFACTOR_WORDS =
  /\b(?:refactor|rename|extract|clean ?up|restructure|simplif|split|move|inline|dedup|deduplicate|reorgani[sz]e)/i
/** Languages without code. */
const PROSE = new Set(['markdown', 'json', 'yaml', 'toml', 'ini', 'env', 'text'])
const MAX_NARRATIVE_CHARS = 480
const MAX_LISTED_FILES = 3

export function composeObservation(episode: Episode, context: PromptContext): ObservationDraft {
  const changes = changesByFile(episode.edits)
  const type = observationType(episode, changes, context.wholePrompt)
  const message = episode.commit?.result.message ?? null
  const actions = [
    ...episode.edits,
    ...episode.failures,
    ...episode.commands,
    ...episode.lookups,
    ...episode.findings,
    ...episode.toolFailures,
    ...(episode.commit === null ? [] : [episode.commit]),
    ...(episode.success === null ? [] : [episode.success]),
  ]
  const agents = unique(actions.map((action) => action.agent))
  return {
    type,
    title: composeTitle(episode, changes, type, message, context),
    subtitle: composeSubtitle(episode, changes),
    narrative: clipAtWord(composeNarrative(episode, changes, message, context), MAX_NARRATIVE_CHARS),
    facts: unique(composeFacts(episode, changes)),
    concepts: concepts(episode, type, message),
    filesRead: filesRead(episode, changes),
    filesModified: changes.map((change) => change.file),
    functionsChanged: functionsChanged(changes),
    // Only an observation with the work of a single agent names it.
    agent: agents.length === 1 ? (agents[0] ?? null) : null,
    discoveryTokens: tokensForChars(actions.reduce((total, action) => total + action.size, 0)),
    discoveryEstimated: true,
    sources: unique(actions.map((action) => action.id)),
    ...foreignSpeaker(episode),
  }
}

/** An episode that consists of what a page or a program said. Otherwise its sources tell whose words it is made of. */
function foreignSpeaker({ kind, findings }: Episode): { saidBy?: 'tool' | 'web' } {
  if (kind === 'unresolved') return { saidBy: 'tool' }
  return kind === 'lookup' && findings.some((finding) => finding.kind === 'web') ? { saidBy: 'web' } : {}
}

function observationType(episode: Episode, changes: readonly CodeChange[], prompt: string | null): ObservationType {
  if (episode.kind === 'fix') return 'bugfix'
  if (episode.kind === 'unresolved' || episode.kind === 'lookup') return changes.length === 0 ? 'discovery' : 'change'
  if (!changes.some(({ language }) => language !== null && !PROSE.has(language))) return 'change'
  const words = `${prompt ?? ''} ${episode.commit?.result.facts.join(' ') ?? ''}`
  if (FIX_WORDS.test(words)) return 'bugfix'
  if (REFACTOR_WORDS.test(words)) return 'refactor'
  const hasNewSymbol = changes.some((change) => change.symbols.some((symbol) => symbol.action === 'new'))
  if (!hasNewSymbol && changes.some((change) => change.renamed.length > 0)) return 'refactor'
  return hasNewSymbol || changes.some((change) => change.kind === 'created') ? 'feature' : 'change'
}

const EPISODE_CONCEPT: Record<Episode['kind'], string> = {
  fix: 'problem-solution',
  unresolved: 'gotcha',
  lookup: 'how-it-works',
  work: 'what-changed',
}

function concepts(episode: Episode, type: ObservationType, message: string | null): string[] {
  const hasReason = message !== null && statedReason(message) !== null
  return [
    EPISODE_CONCEPT[episode.kind],
    ...(type === 'refactor' ? ['pattern'] : []),
    ...(hasReason ? ['why-it-exists'] : []),
  ]
}

function filesRead(episode: Episode, changes: readonly CodeChange[]): string[] {
  const modified = new Set(changes.map((change) => change.file))
  const read = episode.lookups.flatMap((action) => (action.kind === 'read' ? [action.file] : []))
  return unique(read.filter((file) => file !== '' && !modified.has(file))).slice(0, MAX_LISTED_FILES)
}

function functionsChanged(changes: readonly CodeChange[]): FunctionChange[] {
  const code = changes.filter((change) => !isTestFile(change.file))
  return (code.length > 0 ? code : changes).flatMap((change) => change.symbols).slice(0, MAX_LISTED_FUNCTIONS)
}

/** Characters of tool events for each character of an observation, at least. */
const COMPRESSION = 32
/** Allowed for each observation about small events. */
const MIN_CHARS = 200
const MIN_FACTS = 1
const MAX_FACTS = 12

/** Drops the least informative facts, which are the last, until the observations fit. */
export function fitToBudget(drafts: readonly ObservationDraft[], charsIn: number): ObservationDraft[] {
  const allowed = Math.max(MIN_CHARS * drafts.length, charsIn / COMPRESSION)
  const fitted = drafts.map((draft) => ({ ...draft, facts: draft.facts.slice(0, MAX_FACTS) }))
  let total = fitted.reduce((sum, draft) => sum + draftChars(draft), 0)
  for (let most = MAX_FACTS; total > allowed && most > MIN_FACTS; most--) {
    for (const draft of fitted) {
      const dropped = draft.facts.length >= most ? draft.facts.pop() : undefined
      total -= dropped?.length ?? 0
    }
  }
  return fitted
}

function draftChars({ title, subtitle, narrative, facts, filesRead, filesModified }: ObservationDraft): number {
  return JSON.stringify([title, subtitle, narrative, facts, filesRead, filesModified]).length
}
