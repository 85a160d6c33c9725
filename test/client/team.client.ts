/**
 * One memory on several machines, with the real Claude Code on each: machines are homes with a clone of one repository, and
 * a real PostgreSQL is between them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/lib/postgres.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { git, repository } from '../support/repository.ts'
import { waitUntil } from '../support/waiting.ts'
import { ClientPlace } from './client-place.ts'
import type { Scripts } from './messages-api.ts'
import { contextsIn } from './requests.ts'
import { bash } from './work.ts'

const REMOTE = 'git@git.example.com:acme/shop.git'
const CAUSE = 'the gateway drops idle sockets'
const COMMIT = `git add . && git -c user.name=a -c user.email=a@b commit -q -m "Raise zephyrQuota" -m "Needed because ${CAUSE}."`
const LAST_WORDS = `Raised zephyrQuota to 2 because ${CAUSE}.`

const scripts = ({ project }: ClientPlace): Scripts => ({
  work: [
    {
      tools: [
        { name: 'Write', input: { file_path: join(project, 'zephyr.ts'), content: 'export const zephyrQuota = 2\n' } },
      ],
    },
    { tools: [bash(COMMIT)] },
    { text: LAST_WORDS },
  ],
  ask: [{ text: 'Nothing to do.' }],
})

const places: ClientPlace[] = []
let server: PostgresServer
let upstream: string
beforeAll(async () => {
  server = await startPostgres()
  await sql("CREATE ROLE ben LOGIN PASSWORD 'secret of ben'")
  upstream = repository(join(temporaryDirectory('upstream'), 'shop'))
})
afterAll(async () => {
  await Promise.all(places.map((place) => place.dispose()))
  await server?.dispose()
})

async function sql(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url() })
  await client.connect()
  return (await client.query<Record<string, unknown>>(text).finally(() => client.end())).rows
}

/** With the program and a clone. */
async function machine(...clone: string[]): Promise<ClientPlace> {
  const place = await ClientPlace.make(scripts)
  places.push(place)
  git(place.home, 'clone', '--quiet', ...clone, `file://${upstream}`, place.project)
  git(place.project, 'remote', 'set-url', 'origin', REMOTE)
  await place.memOk('install')
  return place
}

/** Of each context in the first request of the next session: which of these words are not in it. */
async function firstContexts(place: ClientPlace, words: readonly string[]): Promise<string[][]> {
  await place.claude('[[script:ask]] go on')
  return contextsIn(place.api.firstRequest('ask')).map((text) => words.filter((word) => !text.includes(word)))
}

describe('machines of a team', () => {
  let ben: ClientPlace

  it('what a session learned is in PostgreSQL after a flush', async () => {
    const ana = await machine()
    await ana.memOk('team', 'connect', server.url(), '--init', '--share', '.')
    await ana.memOk('team', 'grant', 'ben', '.')
    ben = await machine()
    await ben.memOk('team', 'connect', server.url('postgres', 'ben', 'secret of ben'), '--share', '.')
    await ana.claude('[[script:work]] raise the limit')
    await ana.memOk('flush', '--wait')
    const rows = await sql(
      `SELECT DISTINCT kind FROM claude_mem.records WHERE body::text LIKE '%${CAUSE}%' ORDER BY kind`,
    )
    expect(rows.map(({ kind }) => kind)).toEqual(['observation', 'summary'])
  })

  it("another member's next session begins with it, and with the name of its author", async () => {
    await waitUntil('it was received', async () => (await ben.memOk('search', CAUSE)).includes(CAUSE))
    expect(await firstContexts(ben, [CAUSE, 'member “postgres”'])).toEqual([[]])
  })

  it('a machine with an empty disk and a shallow clone has it in its first session, after one command', async () => {
    const container = await machine('--depth', '1')
    await container.memOk('team', 'connect', server.url(), '--share', '.')
    expect(await firstContexts(container, [CAUSE])).toEqual([[]])
  })

  it('so has one with a mounted team.json, where the first hook starts the daemon', async () => {
    const container = await machine('--depth', '1')
    mkdirSync(container.paths.dataDir, { recursive: true, mode: 0o700 })
    writeFileSync(container.paths.team, JSON.stringify({ url: server.url(), allProjects: true }), { mode: 0o600 })
    expect(await firstContexts(container, [CAUSE])).toEqual([[]])
  })
})
