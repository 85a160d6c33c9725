/** A daemon's parts on this thread: a real store, a real socket, projects that the supervisor files by. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonProcess } from '../../src/api/context.ts'
import { contextSettings } from '../../src/context/options.ts'
import type { LiveSettings } from '../../src/daemon/live-settings.ts'
import { Projects } from '../../src/daemon/projects.ts'
import { RenderedContextCache } from '../../src/daemon/rendered-context-cache.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { readOrMakeToken } from '../../src/transport/access.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { DaemonServer, type DaemonServerOptions } from '../../src/transport/server.ts'
import { Harness } from '../daemon/actors/harness.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type TestContext, testContext } from './context.ts'

export interface Served {
  h: Harness
  /** A directory without symbolic links, for repositories. */
  directory: string
  paths: Paths
  context: TestContext
  projects: Projects
  client: DaemonClient
  contextCache: RenderedContextCache
  notices: string[]
  /** What search was told of merges. */
  moved: string[]
  port: number
  token: string
  server: DaemonServer
  rest(path: string): Promise<unknown>
  close(): Promise<void>
}

export async function served({
  settings,
  process: own,
  together = () => true,
  isShared = async () => false,
  ...over
}: Pick<Partial<DaemonServerOptions>, 'viewerDir' | 'now' | 'maxMessageBytes' | 'maxConnections'> & {
  settings?: LiveSettings
  process?: Partial<DaemonProcess>
  /** Of projects. */
  together?: () => boolean
  isShared?: (project: string) => Promise<boolean>
} = {}): Promise<Served> {
  const directory = temporaryDirectory('projects')
  const paths = dataPaths(join(directory, 'data'))
  mkdirSync(paths.dataDir)
  const notices: string[] = []
  const moved: string[] = []
  const h = new Harness()
  let made: Projects | null = null
  h.projectKeys = async (store) => {
    made = new Projects({
      store,
      changed: (project) => contextCache?.changed(project),
      moved: async (from, into) => void moved.push(`${from} -> ${into}`),
      publish: (seq) => h.supervisor.publish({ type: 'change', seq, at: seq, change: 'projects' }),
      notice: (_level, text) => void notices.push(text),
      timeoutsMs: { inspect: 10_000, move: 10_000 },
      together,
      isShared,
    })
    await made.load()
    return made
  }
  let contextCache: RenderedContextCache | null = null
  await h.start()
  const projects = made ?? new Projects({ store: h.store })
  const context = contextSettings(loadSettings(paths.dataDir, {}).values)
  contextCache = new RenderedContextCache({
    reader: h.store,
    directory: paths.context,
    settings: () => context,
    keyOf: (project) => projects.keyOf(project),
    notice: (text) => void notices.push(text),
  })
  const token = readOrMakeToken(paths.token)
  const daemonContext = testContext(h, paths, {
    contextCache,
    projects,
    process: { port: () => server.port, ...own },
    ...(settings === undefined ? {} : { settings }),
  })
  const server: DaemonServer = new DaemonServer({
    paths,
    token,
    context: daemonContext,
    port: 0,
    maxMessageBytes: 2_000_000,
    seq: 0,
    log: () => undefined,
    ...over,
  })
  await server.listen()
  const client = await DaemonClient.connect(paths)
  return {
    h,
    directory,
    paths,
    context: daemonContext,
    projects,
    client,
    contextCache,
    notices,
    moved,
    port: server.port ?? 0,
    token,
    server,
    rest: async (path) => {
      const headers = { authorization: `Bearer ${token}` }
      return await (await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })).json()
    },
    close: async () => {
      client.close()
      await contextCache?.flush()
      await daemonContext.close()
      await server.close()
      await projects.stop()
      await h.dispose()
    },
  }
}
