/** A package registry on loopback whose packages are what a test says, with matching checksums of its own. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { temporaryDirectory } from './directories.ts'

const NPM = 'https://registry.npmjs.org/'

interface Published {
  /** `claims`: the checksum that the registry names; without it that of the archive. */
  manifest: { name: string; version: string; claims?: string | undefined; [field: string]: unknown }
  archive: Buffer
}

/** A packed file with these files in it, as `npm pack` writes it. */
export function packedFile(manifest: Published['manifest'], files: Readonly<Record<string, string>> = {}): string {
  const directory = temporaryDirectory('packed')
  const contents = { ...files, 'package.json': JSON.stringify(manifest) }
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(directory, 'package', name)), { recursive: true })
    writeFileSync(join(directory, 'package', name), content)
  }
  const file = join(directory, 'packed.tgz')
  execFileSync('tar', ['czf', file, '-C', directory, 'package'])
  return file
}

export class Registry {
  readonly requested: string[] = []
  readonly #server: Server
  readonly #published = new Map<string, Published>()

  private constructor(others: boolean) {
    this.#server = createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? '').slice(1)
      this.requested.push(path)
      const tarball = /^(.+)\.tgz$/.exec(path)?.[1]
      const found = this.#published.get(tarball ?? path)
      if (found === undefined && others && !/claude|coding/.test(path))
        response.writeHead(302, { location: NPM + path }).end()
      else if (found === undefined) response.writeHead(404).end('{"error":"Not found"}')
      else if (tarball !== undefined) response.end(found.archive)
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(this.#document(found)))
    })
  }

  /** `others`: packages of other names are those of the public registry. */
  static async listen({ others } = { others: false }): Promise<Registry> {
    const registry = new Registry(others)
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve))
    return registry
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** What npm takes from its surroundings. */
  get env(): NodeJS.ProcessEnv {
    const npm_config_cache = temporaryDirectory('npm-cache')
    return { npm_config_registry: this.url, npm_config_cache, npm_config_fetch_retries: '0' }
  }

  publish(manifest: Published['manifest'], files: Readonly<Record<string, string>> = {}): void {
    this.#published.set(manifest.name, { manifest, archive: readFileSync(packedFile(manifest, files)) })
  }

  publishFile(manifest: Published['manifest'], file: string): void {
    this.#published.set(manifest.name, { manifest, archive: readFileSync(file) })
  }

  #document({ manifest, archive }: Published): unknown {
    const { name, version } = manifest
    const integrity = manifest.claims ?? `sha512-${createHash('sha512').update(archive).digest('base64')}`
    const dist = { tarball: `${this.url}${name}.tgz`, integrity }
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
