/** The registry that `claude-mem update` asks: it may have another program under our name. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataPaths } from '../../../src/lib/paths.ts'
import { fetchProgram, newestVersion, parseProgramSource } from '../../../src/setup/program/fetch.ts'
import { temporaryDirectory } from '../../support/directories.ts'

const requested: string[] = []
let bin: unknown = { 'claude-mem': 'dist/cli.js' }
const registry = createServer((request, response) => {
  requested.push(request.url ?? '')
  const { port } = registry.address() as AddressInfo
  const dist = { tarball: `http://127.0.0.1:${port}/claude-mem.tgz`, shasum: '0'.repeat(40) }
  const versions = { '9.8.7': { name: 'claude-mem', version: '9.8.7', bin, dist } }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ name: 'claude-mem', 'dist-tags': { latest: '9.8.7' }, versions }))
})
beforeAll(() => new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve)))
afterAll(() => void registry.close())

const directory = temporaryDirectory('registry')
const options = () => ({
  env: {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    npm_config_cache: temporaryDirectory('npm-cache'),
  },
  signal: new AbortController().signal,
})

describe('the newest version', () => {
  it('is the one that the registry names', async () => {
    bin = { 'claude-mem': './dist/cli.js' }
    expect(await newestVersion(options())).toBe('9.8.7')
  })

  it('of another program with the same name is refused, and nothing is fetched', async () => {
    bin = { 'claude-mem': './dist/npx-cli/index.js' }
    await expect(newestVersion(options())).rejects.toThrow(/is another program .* update --from FILE/)
    requested.length = 0
    const fetching = fetchProgram(parseProgramSource('9.8.7'), dataPaths(directory), { ...options(), directory })
    await expect(fetching).rejects.toThrow(/claude-mem@9\.8\.7 in the registry \(9\.8\.7\) is another program/)
    expect(requested.filter((url) => url.endsWith('.tgz'))).toEqual([])
  })

  it('that does not exist is refused', async () => {
    bin = { 'claude-mem': 'dist/cli.js' }
    const fetching = fetchProgram(parseProgramSource('7.7.7'), dataPaths(directory), { ...options(), directory })
    await expect(fetching).rejects.toThrow(/7\.7\.7/)
  })
})
