/** Gemini CLI with the extension that comes with the plugin, from a copy where no package of the project is found. */
import { spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { putDatabaseDriver } from '../../support/database-driver.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { AGENT_RUN_MS, ended } from '../memory-place.ts'
import { textsIn } from '../scripted-api.ts'
import { AGENT_NAME, AGENT_PROGRAM, AgentPlace } from './agent.ts'
import { geminiAgent } from './gemini.ts'

describe.runIf(AGENT_NAME === geminiAgent.name)('Gemini CLI with the extension', () => {
  let place: AgentPlace
  beforeAll(async () => {
    place = await AgentPlace.make(geminiAgent)
    const copy = join(temporaryDirectory('extension'), 'plugin')
    cpSync(place.built('plugin'), copy, { recursive: true })
    putDatabaseDriver(place.paths.packages)
    const linked = spawn(AGENT_PROGRAM, ['extensions', 'link', join(copy, 'gemini'), '--consent'], {
      cwd: place.project,
      env: place.env,
    })
    expect(await ended(linked, AGENT_RUN_MS)).toMatchObject({ code: 0 })
  })
  afterAll(() => place?.dispose())

  it('a session is stored, the next one begins with it, and the MCP tools answer', async () => {
    const { turns, stored: expected } = geminiAgent.work(place, 'extensionQuota')
    place.api.play({ work: turns, again: geminiAgent.mcp.search('extensionQuota') })
    const session = await place.run('[[script:work]] raise the limit')
    await place.running()
    await place.settled()
    await place.kept('extensionQuota')
    const stored = (await place.events(session)).flatMap(({ kind, tool }) => (tool === null ? [] : [`${kind} ${tool}`]))
    expect(stored.sort()).toEqual([...expected].sort())
    await place.run('[[script:again]] what do you know about the quota?')
    expect(textsIn(place.api.firstRequest('again').body).some((text) => text.includes('extensionQuota'))).toBe(true)
    expect(geminiAgent.mcp.result(place.api.lastRequest('again').body)).toContain('extensionQuota')
  })
})
