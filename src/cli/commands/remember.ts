import { MAX_REMEMBERED_CHARS, MAX_TITLE_CHARS } from '../../channel/memory-limits.ts'
import { OBSERVATION_TYPES } from '../../memory/observation.ts'
import { projectOf } from '../../memory/project.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { oneOf, UsageError } from '../failure.ts'

export const remember = command({
  usage: 'remember [text..]',
  takesRest: true,
  group: 'Use the memory',
  summary: 'Write something down for the sessions to come',
  about:
    'Adds an observation by hand to the project you are in: a decision, a rule, where something is. It is found and shown ' +
    'like any other. <private> parts are left out and secrets are masked. With - the text is read from the standard input. ' +
    'Starts the daemon if none runs.',
  examples: [
    ['claude-mem remember "Staging has its own database, port 5433"', ''],
    [
      'claude-mem remember --type decision --title "No ORM" "We write SQL by hand because …"',
      'with a title of its own',
    ],
    ['claude-mem remember --file src/auth/jwt.ts --concept auth "Tokens live 15 minutes"', 'about a file'],
    ['git log -1 --format=%B | claude-mem remember -', 'what another program says'],
  ],
  positionals: {},
  options: {
    type: {
      type: 'string',
      requiresArg: true,
      alias: 't',
      describe: OBSERVATION_TYPES.join(', '),
      default: 'discovery',
    },
    title: { type: 'string', requiresArg: true, describe: 'Default: the first sentence' },
    file: { type: 'string', requiresArg: true, alias: 'f', describe: 'A file it is about; several with commas' },
    concept: { type: 'string', requiresArg: true, describe: 'What it is about; several with commas' },
    json: jsonOption,
  },
  run: async ({ rest, type, title, file, concept, json }, cli) => {
    const kind = oneOf('type', type, OBSERVATION_TYPES)
    if (title !== undefined && title.length > MAX_TITLE_CHARS)
      throw new UsageError(`--title has at most ${MAX_TITLE_CHARS} characters`)
    const text = rest.length === 1 && rest[0] === '-' ? await standardInput() : rest.join(' ')
    if (text.trim() === '') throw new UsageError('remember needs a text, or - to read it from the standard input')
    if (text.length > MAX_REMEMBERED_CHARS)
      throw new UsageError(
        `a memory has at most ${MAX_REMEMBERED_CHARS} characters; keep the text in a file and say where`,
      )
    const cwd = process.cwd()
    const project = projectOf(cwd)
    const note = { title: title ?? null, text, kind, concepts: listOf(concept), files: listOf(file) }
    const { observation } = await withDaemon(cli, (client) =>
      client.request('remembered', { type: 'remember', project, cwd, ...note }),
    )
    if (json === true) cli.printJson({ id: observation, project: project.key })
    else cli.print(`Remembered as #${observation}; claude-mem forget ${observation} takes it back`)
    return 0
  },
})

function listOf(given: string | undefined): string[] {
  return (given ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
}

/** Not read to its end where it is far too long: it may never end. */
async function standardInput(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_REMEMBERED_CHARS * 4) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
