/** The plugin as people get it: from a directory or a git repository, added as a marketplace with the client's own commands. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { needs } from './abilities.ts'
import { ClientPlace } from './client-place.ts'
import { GitServer } from './git-server.ts'
import type { Scripts } from './messages-api.ts'
import { toolNames } from './requests.ts'
import { bash, expectedTools, storedTools } from './work.ts'

const scripts = (): Scripts => ({
  work: [{ tools: [bash('echo zephyrQuota')] }, { text: 'Set zephyrQuota to 2.' }],
  ask: [{ text: 'Nothing to do.' }],
})

let place: ClientPlace | null = null
afterEach(async () => {
  await place?.dispose()
  place = null
})

function git(directory: string, ...args: string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false']
  execFileSync('git', [...identity, ...args], { cwd: directory, stdio: 'ignore' })
}

describe('claude plugin install', () => {
  async function installFrom(marketplace: string): Promise<void> {
    for (const args of [
      ['marketplace', 'add', marketplace],
      ['install', 'mem@claude-mem'],
    ]) {
      const finished = await place?.client('plugin', ...args)
      expect([finished?.code, finished?.stderr]).toEqual([0, ''])
    }
  }

  async function reportsSessions(): Promise<void> {
    if (place === null) throw new Error('no place')
    const session = await place.claude('[[script:work]] raise the limit')
    await place.settled()
    expect(place.api.issued).toHaveLength(1)
    expect(storedTools(await place.events(session))).toEqual(expectedTools(place.api.issued))
  }

  it('from a directory: sessions are reported', async () => {
    place = await ClientPlace.make(scripts)
    await installFrom(place.copyPlugin())
    await reportsSessions()
  })

  it('from a git repository: sessions are reported after that is gone', async () => {
    place = await ClientPlace.make(scripts)
    const directory = place.copyPlugin()
    git(directory, 'init', '-q', '-b', 'main')
    git(directory, 'add', '-A')
    git(directory, 'commit', '-q', '-m', 'plugin')
    const server = await GitServer.listen(dirname(directory))
    try {
      await installFrom(`${server.url}/${basename(directory)}/.git`)
    } finally {
      await server.close()
    }
    rmSync(directory, { recursive: true })
    await reportsSessions()
  })
})

describe('commands of the plugin', () => {
  it('/mem:search asks for the search tool, /mem:status brings the status, and the skill is offered', async (test) => {
    needs('plugin', test)
    place = await ClientPlace.make(scripts, { plugin: true })
    await place.claude('[[script:work]] raise the limit')
    await place.settled()
    await place.claude('/mem:search the "zephyr" `quota` $(id)')
    const searched = JSON.stringify(place.api.requests.map(({ body }) => body.messages))
    expect(searched).toContain('search_memory')
    expect(searched).toContain('`quota` $(id)')
    expect(toolNames(place.api.requests.at(-1) ?? { path: '', script: null, turn: 0, body: {} }).join(' ')).toContain(
      'Skill',
    )
    await place.claude('/mem:status')
    expect(JSON.stringify(place.api.requests.map(({ body }) => body.messages))).toMatch(/claude-mem \S+ is serving/)
  })
})
