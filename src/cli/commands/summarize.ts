/** `summarize`: the summary of a turn or of a whole session, now. `show --session` prints the one that is stored. */
import type { OutputOf } from '../../api/index.ts'
import { byline, receivedFromText } from '../../domain/authorship.ts'
import type { Summary } from '../../domain/observation.ts'
import { projectOfDirectory } from '../../domain/project.ts'
import { AGENT_SPEAKER, PROMPT_SPEAKER, quotation, speakerName } from '../../domain/quotation.ts'
import { MemError } from '../../lib/errors.ts'
import { numberOption } from '../arguments.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand, EXIT_FAILED } from '../command.ts'
import { formatAgo } from '../format.ts'
import { callMemory, withDaemon } from '../memory-client.ts'
import type { Display } from '../style.ts'
import { type Field, fieldLines } from '../table.ts'
import { paragraphWidth, quoteBlock, terminalSafe } from '../text.ts'

const MAX_TURNS = 100_000
/** Observing and summarising take two calls to a model; the daemon answers earlier by itself. */
const SUMMARIZE_TIMEOUT_MS = 660_000

/** Newest sessions among which one's own is looked for. */
const NEWEST_SESSIONS = 200

export const summarizeCommand = defineCommand({
  usage: 'summarize [session]',
  group: 'Memory',
  summary: 'Summarise a session, or one of its turns, now',
  about:
    'Writes a summary of the whole session from its turns, with its key files and decisions, and stores it; an earlier ' +
    'one is replaced. Without a session: the newest of the current project. With --turn only that turn. Waiting messages ' +
    'are observed first. claude-mem show --session prints it again. Starts the daemon if it is not running.',
  examples: [
    ['claude-mem summarize', 'the newest session of this project'],
    ['claude-mem summarize 5f1c', 'a session, by the start of its id'],
    ['claude-mem summarize 5f1c --turn 1', 'its first turn'],
  ],
  positionals: { session: { type: 'string', describe: 'The start of its id' } },
  options: { turn: numberOption('turn', 'Only this turn', 0, MAX_TURNS) },
  run: async ({ session, turn }, cli) =>
    await withDaemon(cli, async (client) => {
      try {
        cli.progress('Summarising …')
        const input = { session: session ?? (await newestSession(cli)), prompt: turn ?? null }
        const answer = await client.call('summarize', input, SUMMARIZE_TIMEOUT_MS)
        cli.progress('')
        printResult(cli, answer, () => answerLines(answer, cli.display()))
        return answer.done ? 0 : EXIT_FAILED
      } finally {
        cli.progress('')
      }
    }),
})

async function newestSession(cli: Cli): Promise<string> {
  const { key, name } = projectOfDirectory(process.cwd())
  const { sessions } = await callMemory(cli, 'sessions', { project: key, limit: NEWEST_SESSIONS })
  // A session that came from another machine has no events here.
  const newest = sessions.find(({ author }) => author == null)
  if (newest === undefined) throw new MemError('not_found', `${name} has no session; claude-mem inspect lists sessions`)
  return newest.session
}

function answerLines(
  { session, done, summary, keyFiles, decisions, waiting }: OutputOf<'summarize'>,
  display: Display,
) {
  const { dim } = display.style
  if (!done || summary === null) {
    return [
      `Not done yet: ${terminalSafe(waiting ?? '')}`,
      dim(`It is made later; then: claude-mem show --session ${terminalSafe(session)}`),
    ]
  }
  const lists: Field[] = [
    ['key files', keyFiles.map(terminalSafe).join(', ') || null],
    [
      'decisions',
      decisions.map(({ id, title }) => `#${id} ${terminalSafe(quotation(title ?? ''))}`).join('; ') || null,
    ],
  ]
  return [...summaryLines(summary, display), ...fieldLines(lists, display)]
}

const PARTS = [
  ['Request', 'request'],
  ['Investigated', 'investigated'],
  ['Learned', 'learned'],
  ['Completed', 'completed'],
  ['Next steps', 'nextSteps'],
  ['Notes', 'notes'],
] as const

function summaryLines(summary: Summary, { style, columns, now }: Display): string[] {
  const subject = summary.whole === true ? 'whole session' : `turn ${summary.promptNumber}`
  const width = paragraphWidth(columns, 2)
  const by = byline(summary, summary.createdAt, now)
  const speaker = speakerName(summary)
  const author = by === '' ? '' : `, ${terminalSafe(by)}`
  return [
    `${style.bold('Summary')} of session ${terminalSafe(summary.session)}, ${subject}, ${formatAgo(summary.createdAt, now)}${author}`,
    ...PARTS.flatMap(([name, field]) => {
      const text = summary[field]
      if (text === null || text === '') return []
      const said = field === 'request' && speaker === AGENT_SPEAKER ? PROMPT_SPEAKER : speaker
      return [style.dim(`${name}, ${said}:`), ...quoteBlock(text, width).map((line) => `  ${line}`)]
    }),
  ]
}

/** The stored summary of a whole session; where there is none, those of its turns. */
export async function showSessionSummary(session: string, cli: Cli): Promise<number> {
  const { story, running } = await callMemory(cli, 'story', { session, trace: 0 })
  const whole = story.summaryRows.filter((summary) => summary.whole === true)
  const summaries = whole.length > 0 ? whole : story.summaryRows
  printResult(cli, { running, session: story.row.session, summaries }, () => {
    const display = cli.display()
    const blocks = summaries.map((summary) => summaryLines(summary, display))
    const lines = blocks.flatMap((block, i) => (i === 0 ? block : ['', ...block]))
    if (whole.length > 0) return lines
    const received = story.received === null ? null : receivedFromText(story.received, null)
    const hint =
      received === null
        ? `No summary of the whole session yet: claude-mem summarize ${terminalSafe(story.row.session)}`
        : `This session was ${terminalSafe(received)}; only what was learned in it is here.`
    return [...lines, ...(lines.length === 0 ? [] : ['']), display.style.dim(hint)]
  })
  return 0
}
