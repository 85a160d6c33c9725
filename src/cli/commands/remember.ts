/** Commands that change memories: `remember`, `forget`, `pin` and `supersede`. */
import { OBSERVATION_TYPES } from '../../domain/observation.ts'
import { projectOfDirectory } from '../../domain/project.ts'
import type { SearchFilters } from '../../domain/search-query.ts'
import { pluralize } from '../../lib/format.ts'
import {
  commaList,
  INPUT_LIMITS,
  oneOf,
  parseObservationId,
  parseObservationIds,
  refuseIf,
  UsageError,
} from '../arguments.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand, stringOption, yesOption } from '../command.ts'
import { type FilterArgs, filterOptions, hasFilterArgs, parseFilterArgs, projectOption } from '../filters.ts'
import { readUpTo } from '../input.ts'
import { withDaemon } from '../memory-client.ts'
import { reportMissing } from '../render/observation.ts'

const { MAX_IDS, MAX_REMEMBERED_CHARS, MAX_TITLE_CHARS } = INPUT_LIMITS
/** A character takes at most 4 bytes in UTF-8. */
const MAX_REMEMBERED_BYTES = MAX_REMEMBERED_CHARS * 4

export const rememberCommand = defineCommand({
  usage: 'remember [text..]',
  takesRest: true,
  group: 'Memory',
  summary: 'Write down something for later sessions',
  about:
    'Adds an observation by hand to the current project: a decision, a rule, where something is. It is found and shown ' +
    'like any other. <private> parts are left out and secrets are masked. With - the text is read from standard input. ' +
    'In the shell of a coding agent it is a note of the agent, else of the user. Starts the daemon if it is not running.',
  examples: [
    ['claude-mem remember "Staging has its own database, port 5433"', ''],
    ['claude-mem remember --type decision --title "No ORM" "We write SQL by hand because …"', 'with a title'],
    ['claude-mem remember --file src/auth/jwt.ts --concept auth "Tokens live 15 minutes"', 'about a file'],
    ['git log -1 --format=%B | claude-mem remember -', 'the output of another program'],
  ],
  options: {
    type: { ...stringOption(OBSERVATION_TYPES.join(', '), 't'), default: 'discovery' },
    title: stringOption('Default: the first sentence'),
    file: stringOption('A file it is about; several with commas', 'f'),
    concept: stringOption('What it is about; several with commas'),
  },
  run: async ({ rest, type, title, file, concept }, cli) => {
    const kind = oneOf('type', type, OBSERVATION_TYPES)
    refuseIf((title ?? '').length > MAX_TITLE_CHARS, `--title has at most ${MAX_TITLE_CHARS} characters`)
    const fromStdin = rest.length === 1 && rest[0] === '-'
    const text = fromStdin ? (await readUpTo(process.stdin, MAX_REMEMBERED_BYTES)).toString('utf8') : rest.join(' ')
    refuseIf(text.trim() === '', 'remember needs a text, or - to read it from standard input')
    refuseIf(
      text.length > MAX_REMEMBERED_CHARS,
      `a memory has at most ${MAX_REMEMBERED_CHARS} characters; keep the text in a file and remember where it is`,
    )
    const cwd = process.cwd()
    const project = projectOfDirectory(cwd)
    const note = { title: title ?? null, text, kind, concepts: commaList(concept), files: commaList(file) }
    const { observation } = await withDaemon(cli, (client) =>
      client.call('remember', {
        project,
        cwd,
        ...note,
        by: isAgentsShell(cli.env) ? 'agent' : 'person',
        client: 'cli',
      }),
    )
    printResult(
      cli,
      { id: observation, project: project.key },
      () => `Remembered as #${observation}; to remove it: claude-mem forget ${observation}`,
    )
  },
})

/** What clients set in the shells of their agents. A person who types there looks the same: the less trusted one counts. */
const AGENT_VARIABLES = [
  ...['AI_AGENT', 'CLAUDECODE', 'CODEX_CI', 'CODEX_SANDBOX', 'CODEX_THREAD_ID', 'COPILOT_CLI'],
  ...['CURSOR_AGENT', 'GEMINI_CLI', 'OPENCODE', 'QWEN_CODE'],
]

const isAgentsShell = (env: NodeJS.ProcessEnv): boolean => AGENT_VARIABLES.some((name) => (env[name] ?? '') !== '')

export const forgetCommand = defineCommand({
  usage: 'forget [id..]',
  takesRest: true,
  group: 'Memory',
  summary: 'Remove memories permanently, after showing what would be removed',
  about:
    'Removes observations by id, or everything that passes the filters (--kind all includes summaries and prompts), and ' +
    'every copy of them in the database: text, index, vectors, passages of their turns, rendered context, stored payloads, ' +
    'messages that wait for the observer, calls of the observer. It first shows what would be removed, and what else may say the same (the prompt and ' +
    'the summary of the turn, linked observations), and asks; --yes does it without asking. Backups may still contain it: the ' +
    'answer lists them. --everywhere removes everything that was forgotten so far from backups too, and deletes damaged ' +
    'databases, logs and spool files that were set aside; it can be repeated when it was interrupted. Starts the daemon if it ' +
    'is not running.',
  examples: [
    ['claude-mem forget 12 15', 'what would be removed; then it asks'],
    ['claude-mem forget --session 5f1c --kind all', 'everything from a session'],
    ['claude-mem forget --file secrets/ --project all --yes', 'without asking'],
    ['claude-mem forget 12 --with-related --everywhere --yes', 'with what may say the same, and from every backup'],
  ],
  options: {
    ...filterOptions,
    kind: { ...filterOptions.kind, default: 'observation' },
    project: projectOption,
    'with-related': {
      type: 'boolean',
      describe: 'Also prompts and summaries of the same turns, and linked observations',
    },
    everywhere: {
      type: 'boolean',
      describe: 'Also from backups, set-aside files and logs; alone: what was forgotten before',
    },
    yes: yesOption,
  },
  run: async ({ rest, yes, everywhere, 'with-related': related, ...args }, cli) => {
    const isAlone = everywhere && rest.length === 0 && !hasFilterArgs(args)
    const selection = isAlone ? { ids: [], filters: null } : parseSelection(rest, args, cli)
    const { runForget } = await import('../forget.ts')
    return await withDaemon(cli, (client) => runForget({ ...selection, related, everywhere, yes }, client, cli))
  },
})

/** What to forget: ids, or filters. */
interface Selection {
  ids: number[]
  filters: SearchFilters | null
}

function parseSelection(rest: readonly string[], args: FilterArgs, cli: Cli): Selection {
  const ids = parseObservationIds(rest)
  const hasFilters = hasFilterArgs(args)
  refuseIf(ids.length > MAX_IDS, `forget takes at most ${MAX_IDS} ids at once`)
  refuseIf(ids.length > 0 && hasFilters, 'forget takes ids or filters, not both')
  if (ids.length > 0) return { ids, filters: null }
  refuseIf(!hasFilters, 'name what to forget: ids, or filters such as --session or --file')
  const { now } = cli.display()
  const filters = parseFilterArgs(args, cli.env, now)
  // Memories that arrive between the preview and the confirmation were not shown, so they are not removed.
  return { ids, filters: { ...filters, until: Math.min(filters.until ?? now, now) } }
}

export const pinCommand = defineCommand({
  usage: 'pin <id..>',
  takesRest: true,
  group: 'Memory',
  summary: 'Mark important observations; --off removes the mark',
  about:
    'Pinned observations are marked wherever they are shown; search --pinned lists them. Starts the daemon if it is not ' +
    'running.',
  examples: [
    ['claude-mem pin 12 15', ''],
    ['claude-mem pin 12 --off', 'remove the mark'],
    ['claude-mem search --pinned', 'all pinned ones of this project'],
  ],
  options: { off: { type: 'boolean', describe: 'Remove the mark' } },
  run: async ({ rest, off }, cli) => {
    const ids = parseObservationIds(rest)
    refuseIf(ids.length === 0, 'pin needs the id of an observation; claude-mem search shows them')
    refuseIf(ids.length > MAX_IDS, `pin takes at most ${MAX_IDS} ids at once`)
    const on = !off
    const { changed, missing } = await withDaemon(cli, (client) => client.call('pin', { ids, on }))
    if (cli.json) cli.printJson({ on, changed, missing })
    else if (changed > 0) cli.print(`${pluralize(changed, 'observation')} ${on ? 'pinned' : 'no longer pinned'}`)
    else if (missing.length === 0) cli.print(on ? 'Already pinned' : 'It was not pinned')
    return reportMissing(missing, cli)
  },
})

export const supersedeCommand = defineCommand({
  usage: 'supersede <old>',
  group: 'Memory',
  summary: 'Mark an observation as replaced by a newer one',
  about:
    'A replaced observation is kept, names its replacement, and comes last in every search. Use it for something that is ' +
    'no longer true. Starts the daemon if it is not running.',
  examples: [
    ['claude-mem supersede 12 --by 40', '#40 replaces #12'],
    ['claude-mem supersede 12 --by 40 --undo', 'both are valid again'],
  ],
  positionals: { old: { type: 'string', describe: 'The id of the outdated observation' } },
  options: {
    by: stringOption('The id of its replacement'),
    undo: { type: 'boolean', describe: 'Remove the link again' },
  },
  run: async ({ old, by, undo }, cli) => {
    if (old === undefined || by === undefined)
      throw new UsageError('supersede needs two ids: claude-mem supersede OLD --by NEW')
    const [from, to] = [parseObservationId(by), parseObservationId(old)]
    refuseIf(from === to, 'an observation cannot replace itself')
    const on = !undo
    await withDaemon(cli, (client) => client.call('link', { from, to, kind: 'supersedes', on }))
    printResult(cli, { old: to, by: from, on }, () =>
      on ? `#${from} replaces #${to}` : `#${from} does not replace #${to} any more`,
    )
  },
})
