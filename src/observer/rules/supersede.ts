/** Which stored observations of the session a new one replaces: the later statement about the same thing counts. */
import type { Observation, ObservationDraft } from '../../domain/observation.ts'
import { contentWords } from './statement-roles.ts'

/** Share of the words of an older observation that a newer one must have to replace it. */
const REPEATED_SHARE = 0.75

/** `corrected`: the user said that the turn before was wrong; its findings are replaced by what was found instead. */
export function withSuperseded(
  drafts: readonly ObservationDraft[],
  recorded: readonly Observation[],
  corrected: number | null,
): ObservationDraft[] {
  const used = new Set<number>()
  return drafts.map((draft) => {
    const words = new Set(contentWords(textOfDraft(draft)))
    const replaced = recorded.filter(
      (older) =>
        !used.has(older.id) &&
        (isSameCommit(draft, older) || isRepeated(draft, words, older) || isCorrected(draft, older, corrected)),
    )
    for (const { id } of replaced) used.add(id)
    return replaced.length === 0 ? draft : { ...draft, supersedes: replaced.map(({ id }) => id) }
  })
}

const COMMIT_SUBTITLE = /^commit [0-9a-f]{7,40}$/

/** An amended or rebased commit has another hash and the same subject. */
function isSameCommit(draft: ObservationDraft, older: Observation): boolean {
  const areCommits = COMMIT_SUBTITLE.test(draft.subtitle ?? '') && COMMIT_SUBTITLE.test(older.subtitle ?? '')
  return areCommits && draft.title === older.title && draft.subtitle !== older.subtitle
}

/** What the agent said about its work, and says again with more or other details. */
function isRepeated(draft: ObservationDraft, words: ReadonlySet<string>, older: Observation): boolean {
  if (!isAgentsReport(draft) || !isAgentsReport(older)) return false
  const known = contentWords(textOfDraft(older))
  return known.length > 0 && known.filter((word) => words.has(word)).length >= known.length * REPEATED_SHARE
}

function isCorrected(draft: ObservationDraft, older: Observation, corrected: number | null): boolean {
  if (older.promptNumber !== corrected || older.type !== 'discovery') return false
  return isAgentsReport(draft) && isAgentsReport(older)
}

/** Not a decision, a commit or a fix: these stay true. */
function isAgentsReport({ type, saidBy, subtitle, concepts }: ObservationDraft): boolean {
  return type !== 'decision' && saidBy === 'agent' && subtitle === null && !concepts.includes('problem-solution')
}

function textOfDraft({ narrative, facts }: ObservationDraft): string {
  return [narrative, ...facts].join(' ')
}
