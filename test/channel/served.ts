/** A daemon's parts on this thread: a real store, a real socket, projects that the supervisor files by. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOrMakeToken } from '../../src/channel/access.ts'
import { ChannelClient } from '../../src/channel/client.ts'
import { Projects } from '../../src/channel/projects.ts'
import { type ChannelOptions, ChannelServer } from '../../src/channel/server.ts'
import type { Service } from '../../src/channel/service.ts'
import { ContextKeeper } from '../../src/context/keeper.ts'
import { contextSettings } from '../../src/context/options.ts'
import type { LiveSettings } from '../../src/live-settings.ts'
import { type Paths, pathsOf } from '../../src/paths.ts'
import { loadSettings } from '../../src/settings.ts'
import { Harness } from '../actors/harness.ts'
import { serviceOver } from './service.ts'
import { storeMemory } from './store-memory.ts'

export interface Served {
  h: Harness
  /** A directory without symbolic links, for repositories. */
  directory: string
  paths: Paths
  service: Service
  projects: Projects
  client: ChannelClient
  keeper: ContextKeeper
  notices: string[]
  /** What search was told of merges. */
  moved: string[]
  port: number
  token: string
  server: ChannelServer
  rest(path: string): Promise<unknown>
  close(): Promise<void>
}

export async function served({
  settings,
  ...over
}: Pick<Partial<ChannelOptions>, 'viewerDir' | 'now' | 'maxMessageBytes'> & {
  settings?: LiveSettings
} = {}): Promise<Served> {
  const directory = realpathSync.native(mkdtempSync(join(tmpdir(), 'claude-mem-projects-')))
  const paths = pathsOf(join(directory, 'data'))
  mkdirSync(paths.dataDir)
  const notices: string[] = []
  const moved: string[] = []
  const h = new Harness()
  let made: Projects | null = null
  h.filing = async (store) => {
    made = new Projects({
      store,
      changed: (project) => keeper?.changed(project),
      moved: async (from, into) => void moved.push(`${from} -> ${into}`),
      numbered: (seq) => h.supervisor.publish({ type: 'change', seq, at: seq, change: 'projects' }),
      notice: (_level, text) => void notices.push(text),
      patience: { look: 10_000, along: 10_000 },
    })
    await made.load()
    return made
  }
  let keeper: ContextKeeper | null = null
  await h.start()
  const projects = made ?? new Projects({ store: h.store })
  const context = contextSettings(loadSettings(paths.dataDir, {}).values)
  keeper = new ContextKeeper({
    reader: h.store,
    directory: paths.context,
    settings: () => context,
    keyOf: (project) => projects.keyOf(project),
    notice: (text) => void notices.push(text),
  })
  const memory = storeMemory(h.store, join(h.directory, 'db.sqlite'))
  const token = readOrMakeToken(paths.token)
  const service = serviceOver(h, memory, paths, {
    keeper,
    projects,
    port: () => server.port,
    ...(settings === undefined ? {} : { settings }),
  })
  const server: ChannelServer = new ChannelServer({
    paths,
    token,
    service,
    port: 0,
    maxMessageBytes: 2_000_000,
    seq: 0,
    log: () => undefined,
    ...over,
  })
  await server.listen()
  const client = await ChannelClient.connect(paths)
  return {
    h,
    directory,
    paths,
    service,
    projects,
    client,
    keeper,
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
      await keeper?.flush()
      await memory.close()
      await server.close()
      await projects.stop()
      await h.dispose()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
