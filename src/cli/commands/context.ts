import type { ContextView } from '../../context/load.ts'
import { MemError } from '../../errors.ts'
import { loadSettings } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { projectAsked } from '../project.ts'
import { clean } from '../text.ts'

export const context = command({
  usage: 'context',
  group: 'See what it does',
  summary: 'What a session that starts here would be told',
  about:
    'Prints, to the letter, the memory that a new session of a project gets at its start: the last summary, then what ' +
    'was learned by day and file, under the budget CLAUDE_MEM_CONTEXT_TOKENS. Works without a daemon too.',
  examples: [
    ['claude-mem context', 'for the project of this directory'],
    ['claude-mem context --project shop', 'for another one, by its name, key or path'],
    ['claude-mem context --json | jq .tokens', 'what it costs'],
  ],
  positionals: {},
  options: {
    project: {
      type: 'string',
      requiresArg: true,
      alias: 'p',
      describe: 'Its name, key or path; default: where you are',
    },
    json: jsonOption,
  },
  run: async ({ project, json }, cli) => {
    const { running, view } = await load(projectAsked(project, cli.env), cli)
    if (json === true) cli.printJson({ running, ...view })
    else if (view.context !== '') cli.print(view.context)
    else cli.tell(`Nothing is known about ${clean(view.project.name)} yet: a session gets no context.`)
    return 0
  },
})

async function load(asked: string, cli: Cli): Promise<{ running: boolean; view: ContextView }> {
  const { connectIfRunning } = await import('../reader.ts')
  const client = await connectIfRunning(cli.paths)
  if (client === null) return { running: false, view: await read(asked, cli) }
  try {
    const { project, tokens, context } = await client.request('context', { type: 'context', project: asked })
    return { running: true, view: { project, tokens, context } }
  } finally {
    client.close()
  }
}

async function read(asked: string, { paths, env }: Cli): Promise<ContextView> {
  const [{ SqliteReader }, { contextOf, contextView }, { chosenProject }] = await Promise.all([
    import('../../store/sqlite/reader.ts'),
    import('../../context/load.ts'),
    import('../../context/project.ts'),
  ])
  const tokens = loadSettings(paths.dataDir, env).values.CLAUDE_MEM_CONTEXT_TOKENS
  const reader = await SqliteReader.open(paths.database).catch((error: unknown) => {
    if (error instanceof MemError && error.code === 'not_found') return null
    throw error
  })
  if (reader === null) return contextView({ key: asked, name: asked.replace(/^(?:git|dir):/, '') }, '')
  try {
    const project = await chosenProject(reader, asked)
    return contextView(project, await contextOf(reader, project.key, { tokens, now: Date.now() }))
  } finally {
    await reader.close()
  }
}
