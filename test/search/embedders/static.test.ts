import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { splitWords } from '../../../src/lib/words.ts'
import { JARGON } from '../../../src/search/embedders/jargon.ts'
import type { Embedder } from '../../../src/search/embedders/models.ts'
import { staticEmbedder, Vocabulary } from '../../../src/search/embedders/static.ts'
import { decodeWordVectors, encodeWordVectors } from '../../../src/search/embedders/word-vectors.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { PARAPHRASES } from './paraphrases.ts'

const VECTORS = join(import.meta.dirname, '../../../assets/word-vectors.bin')
const place = temporaryDirectory('vectors')
let embedder: Embedder
beforeAll(async () => {
  embedder = await staticEmbedder()
})

async function similarity(a: string, b: string): Promise<number> {
  const [first, second] = await embedder.embed([a, b])
  return dot(first, second)
}

function dot(a: Float32Array | null | undefined, b: Float32Array | null | undefined): number {
  if (!a || !b) return Number.NaN
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}

describe('the static embedder', () => {
  it('works without a network, a model or a setting', () => {
    expect(embedder).toMatchObject({ name: 'static-1', dimensions: 100 })
  })

  it('gives unit vectors in the order of the texts, the same each time', async () => {
    const texts = ['fix the login', 'a cake recipe', 'getUserById']
    const vectors = await embedder.embed(texts)
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 5)
    for (const [i, text] of texts.entries()) expect(await embedder.embed([text])).toEqual([vectors[i]])
  })

  it.each([
    ['fix the sign-in problem', 'repair the login issue', 'bake a chocolate cake'],
    ['getUserById', 'fetch the user with this identifier', 'draw a red circle'],
    ['db config', 'database configuration', 'wedding flowers'],
    ['stacktrace', 'the trace of the stack', 'a pretty garden'],
    ['refactored', 'restructure the code', 'orange juice'],
    ['JavaScript', 'javascript', 'football match'],
    ['Cafés', 'cafe restaurant', 'medicine'],
  ])('finds %j nearer to %j than to %j', async (text, near, far) => {
    expect(await similarity(text, near)).toBeGreaterThan(await similarity(text, far))
  })

  it('gives null if no word is known', async () => {
    const nothing = ['', '   ', '登录失败', '12345 678', '!!! ---', 'xqzvw', '\ud800\udfff\ud800', 'é́́']
    expect(await embedder.embed(nothing)).toEqual(nothing.map(() => null))
    expect(await embedder.embed([])).toEqual([])
  })

  it('takes any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), async (texts) => {
        const vectors = await embedder.embed(texts)
        expect(vectors).toHaveLength(texts.length)
        for (const vector of vectors) if (vector !== null) expect(dot(vector, vector)).toBeCloseTo(1, 4)
      }),
    )
  })

  it('reads the start of a huge text', async () => {
    const [huge, start] = await embedder.embed([`login ${'cake '.repeat(1_000_000)}`, `login ${'cake '.repeat(4_000)}`])
    expect(dot(huge, start)).toBeCloseTo(1, 3)
  })

  it('finds paraphrases far better than stemmed words do', async () => {
    const asked = await embedder.embed(PARAPHRASES.map(([ask]) => ask))
    const memories = await embedder.embed(PARAPHRASES.map(([, memory]) => memory))
    const found = asked.filter((vector, i) => {
      const scores = memories.map((memory) => dot(vector, memory))
      return scores.filter((score) => score > (scores[i] ?? 0)).length < 5
    }).length
    expect(found).toBeGreaterThanOrEqual(36)
    expect(found).toBeGreaterThan(2 * foundByWords())
  })

  it('knows every word that jargon is explained with', () => {
    const file = decodeWordVectors(readFileSync(VECTORS))
    const vocabulary = new Vocabulary(file.text, file.starts)
    const meanings = [...JARGON.values()].flat()
    expect(meanings.filter((word) => vocabulary.rankOf(word) === -1)).toEqual([])
    expect([...JARGON.keys()].filter((word) => splitWords(word).join() !== word)).toEqual([])
  })
})

/** Among the best five of FTS5 with stemming, words joined by OR. */
function foundByWords(): number {
  const db = new Database(':memory:')
  db.exec(`CREATE VIRTUAL TABLE memories USING fts5(text, tokenize = 'porter unicode61')`)
  const insert = db.prepare('INSERT INTO memories (rowid, text) VALUES (?, ?)')
  for (const [i, [, memory]] of PARAPHRASES.entries()) insert.run(i, splitWords(memory).join(' '))
  const best = db.prepare('SELECT rowid FROM memories WHERE memories MATCH ? ORDER BY rank LIMIT 5').pluck()
  const found = PARAPHRASES.filter(([ask], i) => {
    const query = splitWords(ask).map((word) => `"${word}"`)
    return best.all(query.join(' OR ')).includes(i)
  }).length
  db.close()
  return found
}

describe('the file of word vectors', () => {
  const words = [
    { word: 'alpha', vector: [1, -0.5, 0] },
    { word: 'größe', vector: [0, 0, 0] },
    { word: 'omega', vector: [-127, 1, 63] },
  ]
  const good = encodeWordVectors(words, 3)

  it('decodes what was encoded', () => {
    const file = decodeWordVectors(good)
    const vocabulary = new Vocabulary(file.text, file.starts)
    for (const [n, { word, vector }] of words.entries()) {
      expect(vocabulary.rankOf(word)).toBe(n)
      for (const [i, value] of vector.entries()) {
        expect((file.vectors[3 * n + i] ?? 0) * (file.scales[n] ?? 0)).toBeCloseTo(value, 1)
      }
    }
    for (const other of ['', 'alph', 'alphab', 'gross', 'größe ', 'ö'.repeat(99)])
      expect(vocabulary.rankOf(other)).toBe(-1)
  })

  it('is the same for the same words', () => {
    expect(encodeWordVectors(words, 3)).toEqual(good)
  })

  it('finds each of its words by rank', () => {
    const file = decodeWordVectors(readFileSync(VECTORS))
    const vocabulary = new Vocabulary(file.text, file.starts)
    const text = Buffer.from(file.text)
    const count = file.starts.length - 1
    expect(count).toBe(100_000)
    let wrong = 0
    for (let n = 0; n < count; n++) {
      if (vocabulary.rankOf(text.toString('utf8', file.starts[n], file.starts[n + 1])) !== n) wrong++
    }
    expect(wrong).toBe(0)
  })

  it.each<[string, (file: Buffer) => Buffer, RegExp]>([
    ['empty', () => Buffer.alloc(0), /is not a file of word vectors/],
    [
      'something else',
      () => Buffer.from('{"words": ["these", "are", "no", "vectors", "but", "JSON"]}'),
      /is not a file of word vectors/,
    ],
    ['cut short', (file) => file.subarray(0, -1), /bytes instead of/],
    ['longer than it says', (file) => Buffer.concat([file, file]), /bytes instead of/],
    ['of a later format', (file) => changed(file, 8), /format/],
    ['changed in one byte', (file) => changed(file, 40), /checksum/],
    ['says that it is huge', (file) => changed(file, 15), /bytes instead of/],
  ])('that is %s is refused with what to do', async (_name, damage, reason) => {
    const file = join(place, 'damaged.bin')
    writeFileSync(file, damage(Buffer.from(good)))
    const opened = staticEmbedder({ file })
    await expect(opened).rejects.toMatchObject({ name: 'MemError', message: expect.stringMatching(reason) })
    await expect(opened).rejects.toThrow('Install claude-mem again.')
  })

  it('that is missing is reported with what to do', async () => {
    await expect(staticEmbedder({ file: join(place, 'missing.bin') })).rejects.toThrow(
      /ENOENT.*Install claude-mem again/,
    )
  })
})

function changed(file: Buffer, at: number): Buffer {
  file[at] = (file[at] ?? 0) ^ 0x55
  return file
}
