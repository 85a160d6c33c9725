import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { localModels, removePartialDownloads } from '../../../src/search/embedders/models.ts'
import {
  type TransformersEmbedder,
  type TransformersOptions,
  transformersEmbedder,
} from '../../../src/search/embedders/transformers.ts'
import { type Bundle, bundle } from '../../store/bundle.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { Hub, type Misbehaviour, serve } from './hub.ts'
import { TINY_DIMENSIONS, tinyModelFiles, tinyOnnx, writeTinyModel } from './tiny-model.ts'

const installed = (() => {
  try {
    return createRequire(import.meta.url).resolve('@huggingface/transformers') !== ''
  } catch {
    return false
  }
})()

let worker: Bundle
let place: string
const embedders: TransformersEmbedder[] = []
const hubs: Hub[] = []

beforeAll(() => {
  worker = bundle('src/search/embedders/transformers-worker.ts', 'embedder-worker.mjs')
})
afterAll(() => worker.dispose())
beforeEach(() => {
  place = temporaryDirectory('models')
})
afterEach(async () => {
  for (const embedder of embedders.splice(0)) await embedder.close()
  for (const hub of hubs.splice(0)) await hub.close()
})

async function load(options: Partial<TransformersOptions> & { model: string }): Promise<TransformersEmbedder> {
  const embedder = await transformersEmbedder({
    cacheDir: join(place, 'models'),
    allowRemote: false,
    workerFile: worker.file,
    ...options,
  })
  embedders.push(embedder)
  return embedder
}

async function hubThat(handle: Misbehaviour): Promise<Hub> {
  const hub = await Hub.listen(handle)
  hubs.push(hub)
  return hub
}

const fromHub = (hub: Hub, more: Partial<TransformersOptions> = {}) =>
  load({ model: 'tiny/words', allowRemote: true, remoteHost: hub.url, ...more })

const cosine = (a: Float32Array | null | undefined, b: Float32Array | null | undefined) =>
  a && b ? a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0) : Number.NaN

describe.skipIf(!installed)('a model in a folder (needs @huggingface/transformers)', () => {
  it('gives unit vectors in the order of the texts', async () => {
    const folder = join(place, 'my-model')
    writeTinyModel(folder)
    const embedder = await load({ model: folder })
    expect(embedder.dimensions).toBe(TINY_DIMENSIONS)
    const [login, token, both, cake] = await embedder.embed(['login', 'Token', 'login token', 'cake'])
    for (const vector of [login, token, both, cake]) expect(cosine(vector, vector)).toBeCloseTo(1, 5)
    expect(login?.[1]).toBeCloseTo(1, 5)
    expect(cosine(login, token)).toBeGreaterThan(0.9)
    expect(cosine(both, cake)).toBeCloseTo(0, 5)
  })

  it('gives null for a text without known tokens', async () => {
    const folder = join(place, 'my-model')
    writeTinyModel(folder)
    const embedder = await load({ model: folder })
    const vectors = await embedder.embed(['', ' \n\t ', 'nonsense', 'login', '\ud800', '登录'])
    expect(vectors.map((vector) => vector !== null)).toEqual([false, false, false, true, false, false])
    expect(await embedder.embed([])).toEqual([])
  })

  it('takes many texts and huge ones', async () => {
    const folder = join(place, 'my-model')
    writeTinyModel(folder)
    const embedder = await load({ model: folder })
    const texts = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? 'login' : `cake ${'login '.repeat(100_000)}`))
    const vectors = await embedder.embed(texts)
    expect(vectors).toHaveLength(50)
    // The first words of a text that is too long count.
    vectors.forEach((vector, i) => {
      expect(vector?.[3] === 0).toBe(i % 2 === 0)
    })
  })

  it.each(['with blanks', 'ümlaut', 'a--b', '.hidden', 'x.git'])('may be in a folder called %s', async (name) => {
    const folder = join(place, name)
    writeTinyModel(folder)
    expect((await load({ model: folder })).dimensions).toBe(TINY_DIMENSIONS)
  })

  it('without a token limit gets short texts', async () => {
    const folder = join(place, 'my-model')
    writeTinyModel(folder)
    const config = join(folder, 'tokenizer_config.json')
    const { model_max_length: _, ...rest } = JSON.parse(readFileSync(config, 'utf8'))
    writeFileSync(config, JSON.stringify(rest))
    const embedder = await load({ model: folder })
    const [login, both] = await embedder.embed(['login '.repeat(1_000), `${'login '.repeat(50)} cake`])
    expect([login?.[3], both?.[3] !== 0]).toEqual([0, true])
  })

  it("has a name with a hash of the folder's content", async () => {
    const folder = join(place, 'my-model')
    writeTinyModel(folder)
    const first = await load({ model: folder })
    expect(first.name).toMatch(/^my-model@fp32#[0-9a-f]{8}$/)
    expect((await load({ model: `${folder}@fp32` })).name).toBe(first.name)
    const tokenizer = join(folder, 'tokenizer.json')
    writeFileSync(tokenizer, `${readFileSync(tokenizer, 'utf8')}\n`)
    expect((await load({ model: folder })).name).not.toBe(first.name)
  })

  it.each([
    ['that is not there', () => undefined, /config\.json is missing/],
    [
      'without weights',
      (folder: string) => rmSync(join(folder, 'onnx'), { recursive: true }),
      /model\.onnx is missing/,
    ],
    ['with weights cut short', (folder: string) => cut(join(folder, 'onnx', 'model.onnx')), /cannot be used/],
    ['with a tokenizer that is no JSON', (folder: string) => cut(join(folder, 'tokenizer.json')), /cannot be used/],
  ])('%s is refused with what is wrong', async (name, damage, message) => {
    const folder = join(place, 'my-model')
    if (name !== 'that is not there') writeTinyModel(folder)
    damage(folder)
    await expect(load({ model: folder })).rejects.toThrow(message)
    // Somebody else's folder is left as it is.
    expect(existsSync(join(folder, 'config.json'))).toBe(name !== 'that is not there')
  })

  it('rejects waiting and later calls when it is closed', async () => {
    const folder = join(place, 'my-model')
    writeTinyModel(folder)
    const embedder = await load({ model: folder })
    const waiting = embedder.embed(Array.from({ length: 2_000 }, () => 'login token'))
    const refused = expect(waiting).rejects.toThrow('The embedder is closed.')
    await embedder.close()
    await refused
    await expect(embedder.embed(['login'])).rejects.toThrow('The embedder is closed.')
    await embedder.close()
  })
})

describe.skipIf(!installed)('a model from the hub (needs @huggingface/transformers)', () => {
  it('is downloaded with progress, stored, and then loaded without the hub', async () => {
    const hub = await Hub.serving('tiny/words', tinyModelFiles())
    hubs.push(hub)
    const seen: { loadedBytes: number; totalBytes: number }[] = []
    const fetched = await fromHub(hub, { onProgress: (progress) => seen.push(progress) })
    expect(fetched.name).toBe('tiny/words@fp32')
    expect(cosine((await fetched.embed(['login']))[0], (await fetched.embed(['token']))[0])).toBeGreaterThan(0.9)

    const size = [...tinyModelFiles().values()].reduce((sum, { length }) => sum + length, 0)
    expect(seen.at(-1)).toMatchObject({ loadedBytes: size, totalBytes: size })
    seen.forEach(({ loadedBytes, totalBytes }, i) => {
      expect(totalBytes).toBe(size)
      expect(loadedBytes).toBeGreaterThanOrEqual(seen[i - 1]?.loadedBytes ?? 0)
    })
    expect(readFileSync(join(place, 'models', 'tiny', 'words', 'onnx', 'model.onnx'))).toEqual(tinyOnnx())

    hub.asked.length = 0
    const kept = await load({ model: 'tiny/words', remoteHost: hub.url })
    expect(await kept.embed(['login token'])).toEqual(await fetched.embed(['login token']))
    expect(hub.asked).toEqual([])
  })

  it('is downloaded and loaded in the revision that its name pins', async () => {
    const revision = '0123456789abcdef0123456789abcdef01234567'
    const model = `tiny/words@fp32#${revision}`
    const hub = await Hub.serving('tiny/words', tinyModelFiles(), revision)
    hubs.push(hub)
    const fetched = await fromHub(hub, { model })
    expect(fetched.name).toBe(model)
    expect(hub.asked.filter((path) => !path.startsWith(`/tiny/words/resolve/${revision}/`))).toEqual([])
    expect(localModels(join(place, 'models')).map(({ name }) => name)).toEqual([model])
    hub.asked.length = 0
    const kept = await load({ model, remoteHost: hub.url })
    expect(await kept.embed(['login token'])).toEqual(await fetched.embed(['login token']))
    expect(hub.asked).toEqual([])
    // Another revision is another model.
    await expect(load({ model: 'tiny/words' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('that was never downloaded is reported with the command to download it', async () => {
    await expect(load({ model: 'tiny/words@q8' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'tiny/words@q8 is not on this machine. Download it: claude-mem models pull tiny/words@q8',
    })
  })

  it.each<[string, Misbehaviour]>([
    ['answers 500', (_, response) => void response.writeHead(500).end()],
    ['answers 503', (_, response) => void response.writeHead(503).end('later')],
    ['hangs', () => undefined],
    ['hangs up', (request) => request.socket.destroy()],
    [
      'falls silent in the middle of a file',
      (_, response) => void response.writeHead(200, { 'content-length': 500 }).write('{"model_type":'),
    ],
    [
      'hangs up in the middle of the weights',
      (request, response) => {
        const content = tinyModelFiles().get((request.url ?? '').slice('/tiny/words/resolve/main/'.length))
        if (content === undefined) response.writeHead(404).end()
        else if (!request.url?.endsWith('.onnx') || request.headers.range !== undefined)
          serve(request, response, content)
        else {
          response.writeHead(200, { 'content-length': content.length })
          response.write(content.subarray(0, 100), () => request.socket.destroy())
        }
      },
    ],
  ])('from a hub that %s: it cannot be reached, and can be tried again', async (_name, handle) => {
    const hub = await hubThat(handle)
    await expect(fromHub(hub, { stallMs: 300 })).rejects.toMatchObject({
      retryable: true,
      message: expect.stringMatching(
        /cannot be reached: .+; the static embedder is used meanwhile; try again: claude-mem models pull tiny\/words@fp32$/,
      ),
    })
    expect(files(place).filter((file) => file.includes('.tmp.') || file.endsWith('.onnx'))).toEqual([])
  })

  it('from a hub that does not listen', async () => {
    const hub = await hubThat(() => undefined)
    await hub.close()
    await expect(fromHub(hub)).rejects.toMatchObject({
      retryable: true,
      message: expect.stringMatching(/cannot be reached: connect ECONNREFUSED/),
    })
  })

  it.each([404, 401, 403])('that the hub refuses (%i) is not found', async (status) => {
    const hub = await hubThat((_, response) => void response.writeHead(status).end())
    await expect(fromHub(hub)).rejects.toMatchObject({
      code: 'not_found',
      retryable: false,
      message: expect.stringContaining('has no usable model tiny/words@fp32'),
    })
  })

  it("that is a captive portal's page instead leaves no file behind", async () => {
    const page = Buffer.from('<html><body>Please log in</body></html>')
    const hub = await hubThat((request, response) => serve(request, response, page))
    await expect(fromHub(hub)).rejects.toThrow(/cannot be used/)
    const good = await Hub.serving('tiny/words', tinyModelFiles())
    hubs.push(good)
    expect((await fromHub(good)).dimensions).toBe(TINY_DIMENSIONS)
  })

  it('can be aborted during the download, and leaves no partial file', async () => {
    const stopping = new AbortController()
    const hub = await hubThat((request, response) => {
      const content = tinyModelFiles().get((request.url ?? '').slice('/tiny/words/resolve/main/'.length))
      if (content === undefined) response.writeHead(404).end()
      else if (!request.url?.endsWith('.onnx') || request.headers.range !== undefined) serve(request, response, content)
      else {
        response.writeHead(200, { 'content-length': content.length })
        response.write(content.subarray(0, 100), () => stopping.abort(new Error('it was interrupted')))
      }
    })
    await expect(fromHub(hub, { signal: stopping.signal })).rejects.toThrow('it was interrupted')
    expect(files(place).filter((file) => file.includes('.tmp.') || file.endsWith('.onnx'))).toEqual([])
  })
})

it('partial downloads of ended processes are removed, those of running ones stay', () => {
  const folder = join(place, 'models')
  mkdirSync(join(folder, 'onnx'), { recursive: true })
  const names = [
    'config.json',
    `a.tmp.${process.pid}.x1`,
    `b.tmp.${process.ppid}.x1`,
    join('onnx', 'm.onnx.tmp.999999999.-5'),
  ]
  for (const name of names) writeFileSync(join(folder, name), '')
  removePartialDownloads(folder)
  removePartialDownloads(join(place, 'missing'))
  expect(files(folder).sort()).toEqual([`b.tmp.${process.ppid}.x1`, 'config.json', 'onnx'])
})

describe('without the runtime of models', () => {
  it('reports how to install it', async () => {
    // Outside of the project no package is found.
    const file = join(place, 'embedder-worker.mjs')
    writeFileSync(file, readFileSync(worker.file))
    await expect(load({ model: 'tiny/words', workerFile: file })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('claude-mem packages install @huggingface/transformers'),
    })
  })
})

describe('the name of a model', () => {
  it.each([
    'owner/name#main',
    'owner/name#v1.0',
    'owner/name@q8#',
    'owner/name#0123abc',
    `owner/name#${'0'.repeat(40)}#x`,
  ])('%j is refused: a revision is a commit', async (model) => {
    await expect(load({ model })).rejects.toThrow('40 hexadecimal digits')
  })

  it.each(['', 'a/b/c', '../x y', 'owner/na me', 'https://example.com/model', 'owner/..', 'x'.repeat(200)])(
    '%j is refused',
    async (model) => {
      await expect(load({ model })).rejects.toThrow()
    },
  )
})

function cut(file: string): void {
  writeFileSync(file, readFileSync(file).subarray(0, 60))
}

function files(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
}
