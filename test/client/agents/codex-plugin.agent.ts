/** Codex with the plugin of Claude Code, which it installs too, from a copy where no package of the project is found. */
import { spawn } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { putDatabaseDriver } from '../../support/database-driver.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { AGENT_RUN_MS, ended } from '../memory-place.ts'
import { textsIn } from '../scripted-api.ts'
import { AGENT_NAME, AGENT_PROGRAM, AgentPlace, type TestedAgent } from './agent.ts'
import { codexAgent } from './codex.ts'

describe.runIf(AGENT_NAME === codexAgent.name)('Codex with the plugin', () => {
  let place: AgentPlace
  beforeAll(async () => {
    // Trust is for what the person reviewed in Codex; a plugin's hooks have no file to write it for.
    const args: TestedAgent['args'] = (prompt, resume) => [
      '--dangerously-bypass-hook-trust',
      ...codexAgent.args(prompt, resume),
    ]
    place = await AgentPlace.make({ ...codexAgent, args })
    const copy = join(temporaryDirectory('plugin'), 'plugin')
    cpSync(place.built('plugin'), copy, { recursive: true })
    putDatabaseDriver(place.paths.packages)
    for (const words of [
      ['marketplace', 'add', copy],
      ['add', 'mem@claude-mem'],
    ]) {
      const added = spawn(AGENT_PROGRAM, ['plugin', ...words], { cwd: place.project, env: place.env })
      expect(await ended(added, AGENT_RUN_MS)).toMatchObject({ code: 0 })
    }
    rmSync(copy, { recursive: true })
  })
  afterAll(() => place?.dispose())

  it('a session is stored, the next one begins with it, and the MCP tools answer', async () => {
    const { turns, stored: expected } = codexAgent.work(place, 'pluginQuota')
    place.api.play({ work: turns, again: codexAgent.mcp.search('pluginQuota') })
    const session = await place.run('[[script:work]] raise the limit')
    await place.running()
    await place.settled()
    await place.kept('pluginQuota')
    const stored = (await place.events(session)).flatMap(({ kind, tool }) => (tool === null ? [] : [`${kind} ${tool}`]))
    expect(stored.sort()).toEqual([...expected].sort())
    await place.run('[[script:again]] what do you know about the quota?')
    expect(textsIn(place.api.firstRequest('again').body).some((text) => text.includes('pluginQuota'))).toBe(true)
    expect(codexAgent.mcp.result(place.api.lastRequest('again').body)).toContain('pluginQuota')
  })
})
