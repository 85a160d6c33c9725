/** Prints passages (`claude-mem show`): the evidence of an observation, and one with what is around it. */
import type { OutputOf } from '../../api/index.ts'
import { projectLabel } from '../../context/lines.ts'
import { authorName } from '../../domain/authorship.ts'
import { formatDateTime } from '../../domain/dates.ts'
import { PASSAGE_LABELS, type Passage } from '../../domain/passage.ts'
import { hitSpeaker, passageSubject, quoted } from '../../domain/quotation.ts'
import { passageSpeaker } from '../../domain/speaker.ts'
import type { Cli } from '../cli.ts'
import { EXIT_FAILED } from '../command.ts'
import type { Display } from '../style.ts'
import { paragraphWidth, quoteBlock, terminalSafe } from '../text.ts'

/** Passages of an observation that are listed. */
const MAX_EVIDENCE = 8
const EVIDENCE_COLUMNS = 100

const MIN_SAID_CHARS = 20

const passageSpeakerName = (passage: Passage): string =>
  hitSpeaker({ ...passage, kind: 'passage', passage, saidBy: passageSpeaker(passage) })

type Evidence = OutputOf<'observations'>['passages']
type Around = OutputOf<'passages'>['passages'][number]

export function evidenceLines(observation: number, evidence: Evidence, { style, columns }: Display): string[] {
  const own = evidence.filter(({ observationId }) => observationId === observation)
  if (own.length === 0) return []
  const width = Math.min(EVIDENCE_COLUMNS, columns ?? EVIDENCE_COLUMNS)
  const lines = own.slice(0, MAX_EVIDENCE).map((passage) => {
    const subject = passageSubject(passage) ?? ''
    const said = quoted(
      passageSpeakerName(passage),
      passage.text,
      Math.max(width - 30 - subject.length, MIN_SAID_CHARS),
    )
    const text = [subject, said].filter((part) => part !== '').join(' ')
    return `  ${style.cyan(`p${passage.id}`)} ${style.dim(passage.kind)} ${terminalSafe(text)}`
  })
  const more = own.length - MAX_EVIDENCE
  return ['', style.dim('evidence'), ...lines, ...(more > 0 ? [style.dim(`  … ${more} more`)] : [])]
}

export function passageLines({ id, around }: Around, display: Display): string[] {
  return around.flatMap((passage, i) => [...(i === 0 ? [] : ['']), ...onePassage(passage, passage.id === id, display)])
}

function onePassage(passage: Around['around'][number], isAsked: boolean, { style, columns }: Display): string[] {
  const { id, kind, outcome, at } = passage
  const where = isAsked ? `[${projectLabel({ name: passage.projectName, key: passage.project })}]` : ''
  const by = passage.author == null ? '' : `(by ${authorName(passage.author)})`
  const speaker = passageSpeakerName(passage)
  const label = PASSAGE_LABELS[kind]
  const head = [
    label === speaker ? '' : label,
    outcome === 'failed' ? 'failed' : '',
    passageSubject(passage) ?? '',
    where,
    by,
    speaker,
  ]
    .filter((part) => part !== '')
    .join(' ')
  const title = `${style.cyan(`p${id}`)}  ${style.dim(formatDateTime(at))}  ${terminalSafe(head)}:`
  const lines = quoteBlock(passage.text, paragraphWidth(columns, 2)).map((line) => `  ${line}`)
  return [isAsked ? style.bold(title) : title, ...(isAsked ? lines : lines.map(style.dim))]
}

export function reportMissingPassages(missing: readonly number[], cli: Cli): number {
  if (missing.length === 0) return 0
  cli.printStderr(`there is no passage ${missing.map((id) => `p${id}`).join(', ')}; it may be too old, or forgotten`)
  return EXIT_FAILED
}
