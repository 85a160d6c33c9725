/**
 * What the person is told when a session starts: what is remembered, and what is in the way of remembering. The model
 * never sees it. Coloured here; whoever shows it where no colours are wanted takes them out (`withoutColours`).
 */
import { shortCount } from '../memory/amounts.ts'
import { bold, cyan, yellow } from '../memory/colours.ts'
import type { ContextMessage } from '../memory/context-parts.ts'
import type { ContextMaterial } from '../store/context-port.ts'
import { projectName } from './lines.ts'
import { plain, shorten } from './text.ts'
import { dayIn } from './times.ts'

/** What keeps the observer from its work. */
export interface Trouble {
  /** Messages that wait for the observer, and those that were set aside. */
  pending: number
  failed: number
  /** Why the model is not asked; null where it is, or none is to be. */
  reason: string | null
  /** Without the model the offline observer goes on. */
  offline: boolean
}

export const NO_TROUBLE: Trouble = { pending: 0, failed: 0, reason: null, offline: false }

const NEXT_CHARS = 140
const REASON_CHARS = 160

export interface MessageInput {
  /** Null where nothing is known. */
  material: ContextMaterial | null
  /** Tokens that the session gets; 0: nothing. */
  tokens: number
  trouble: Trouble
  how: ContextMessage
  now: number
}

/** Empty where there is nothing to say. */
export function messageOf({ material, tokens, trouble, how, now }: MessageInput): string {
  if (how === 'off') return ''
  const known = how === 'full' && material !== null && tokens > 0 ? [knownText(material, tokens, now)] : []
  const said = [...known, ...troubleTexts(trouble).map((text) => yellow(text))]
  return said.length === 0 ? '' : `${bold(cyan('claude-mem'))}: ${said.join('; ')}`
}

function knownText({ project, totals, observations, pinned, summaries }: ContextMaterial, tokens: number, now: number) {
  const times = [...observations, ...pinned, ...summaries].map(({ createdAt }) => createdAt)
  const { observations: count } = totals
  const next = summaries.map(({ nextSteps }) => plain(nextSteps ?? '')).find((text) => text !== '')
  return [
    `${bold(String(count))} ${count === 1 ? 'memory' : 'memories'} of ${bold(projectName(project))}`,
    // An absolute day: the text may be read from its file tomorrow.
    `last worked on ${dayIn(
      times.reduce((a, b) => Math.max(a, b), 0),
      now,
    )}`,
    `~${shortCount(tokens)} tokens given to the session`,
    ...(next === undefined ? [] : [`next: ${shorten(next, NEXT_CHARS)}`]),
  ].join(', ')
}

function troubleTexts({ pending, failed, reason, offline }: Trouble): string[] {
  const why = shorten(plain(reason ?? ''), REASON_CHARS).replace(/\.$/, '')
  const waits = pending === 0 ? 'the observer waits' : `${pending} message${pending === 1 ? ' waits' : 's wait'}`
  return [
    ...(reason === null ? [] : [`${offline ? 'observed without the model' : waits}: ${why} (claude-mem status)`]),
    ...(failed === 0 ? [] : [`${failed} message${failed === 1 ? '' : 's'} set aside (claude-mem queue)`]),
  ]
}
