/** What a session would be given, from the daemon, or from the file while none runs. */
import type { ContextPreview } from '../context/load.ts'
import { MemError } from '../errors.ts'
import { loadSettings } from '../settings.ts'
import type { Cli } from './cli.ts'

export interface LoadedPreview {
  /** A daemon answered. */
  running: boolean
  preview: ContextPreview
}

/** `tokens`: another budget than the one that is set. */
export async function loadPreview(asked: string, tokens: number | undefined, cli: Cli): Promise<LoadedPreview> {
  const { connectIfRunning } = await import('./reader.ts')
  const client = await connectIfRunning(cli.paths)
  if (client === null) return { running: false, preview: await readPreview(asked, tokens, cli) }
  try {
    const {
      v: _v,
      id: _id,
      type: _type,
      ...preview
    } = await client.request('context', {
      type: 'context',
      project: asked,
      ...(tokens === undefined ? {} : { tokens }),
    })
    return { running: true, preview }
  } finally {
    client.close()
  }
}

async function readPreview(asked: string, tokens: number | undefined, { paths, env }: Cli): Promise<ContextPreview> {
  const [{ SqliteReader }, { nothingKnown, previewOf }, { contextSettings }, { chosenProject }] = await Promise.all([
    import('../store/sqlite/reader.ts'),
    import('../context/load.ts'),
    import('../context/options.ts'),
    import('../context/project.ts'),
  ])
  const reader = await SqliteReader.open(paths.database).catch((error: unknown) => {
    if (error instanceof MemError && error.code === 'not_found') return null
    throw error
  })
  if (reader === null) return nothingKnown({ key: asked, name: asked.replace(/^(?:git|dir):/, '') })
  try {
    const project = await chosenProject(reader, asked)
    const settings = contextSettings(loadSettings(paths.dataDir, env).values)
    const options = { ...settings, now: Date.now(), ...(tokens === undefined ? {} : { tokens }) }
    const { pending, failed } = await reader.queueStats()
    // Why the model is not asked is known to the one who asks it.
    return await previewOf(reader, project, options, { pending, failed, reason: null, offline: false })
  } finally {
    await reader.close()
  }
}
