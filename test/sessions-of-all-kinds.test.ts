/**
 * Whole sessions that are not written in tidy English, from the transcript to the next session's start and to search: other
 * languages, one word, huge and binary output, a client of another system.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ObservedMemory, withObserved } from '../scripts/quality/observed.ts'
import { startOf } from '../scripts/quality/start.ts'
import { IndexedSearch } from '../scripts/search/searched-memory.ts'
import { NO_FILTERS } from '../src/domain/search-query.ts'
import { searchHitText } from '../src/mcp/tools/search.ts'
import { offlineObserver } from '../src/observer/offline/index.ts'
import { temporaryDirectory } from './support/directories.ts'
import { TranscriptLines } from './support/transcript-lines.ts'

const directory = temporaryDirectory('all-kinds')
const AT = Date.UTC(2025, 10, 3, 9)

interface Remembered extends Pick<ObservedMemory, 'observations' | 'summaries' | 'events'> {
  start: string
  /** Hits of each query as an agent reads them, best first. */
  hits: string[][]
}

async function remembered(lines: TranscriptLines, queries: readonly string[] = []): Promise<Remembered> {
  const file = join(directory, 's-1.jsonl')
  writeFileSync(file, lines.text)
  return await withObserved(file, { observer: offlineObserver }, async (memory) => {
    expect(memory.complaints).toEqual([])
    const search = await IndexedSearch.open(memory.store, memory.paths)
    try {
      await search.index()
      const hits: string[][] = []
      for (const query of queries) {
        const filters = { ...NO_FILTERS, kinds: ['observation', 'summary'] as const }
        const found = await search.calls.search({ query, mode: 'auto', filters, limit: 5, offset: 0 })
        hits.push(found.hits.map((hit) => searchHitText(hit, false)))
      }
      const { observations, summaries, events } = memory
      return { observations, summaries, events, start: (await startOf(memory)).context, hits }
    } finally {
      await search.close()
    }
  })
}

const edit = (file: string, before: string, after: string) => ({
  file_path: `/w/shop/src/${file}`,
  old_string: before,
  new_string: after,
})

describe('a session in another language is remembered, told and found:', () => {
  it('Chinese', async () => {
    const { start, hits, observations } = await remembered(
      new TranscriptLines({ at: AT })
        .prompt('修复购物车总价的错误，折扣被计算了两次')
        .says('我先看一下折扣的代码。')
        .tool('Edit', edit('cart.ts', 'total - discount - discount', 'total - discount'), 'ok')
        .says('已修复：折扣在 cart.ts 里被减了两次，现在只减一次。测试全部通过。'),
      ['折扣为什么计算了两次', '购物车 总价'],
    )
    expect(observations.length).toBeGreaterThan(0)
    expect(start).toContain('折扣在 cart.ts 里被减了两次')
    for (const found of hits) expect(found.join('\n')).toContain('折扣')
  })

  it('Hebrew', async () => {
    const { start, hits } = await remembered(
      new TranscriptLines({ at: AT })
        .prompt('תקן את חישוב המע"מ בעגלה, הסכום שגוי')
        .tool('Edit', edit('vat.ts', 'vat = 0.17', 'vat = 0.18'), 'ok')
        .says('תיקנתי: שיעור המע"מ היה 17% במקום 18%. כל הבדיקות עוברות.'),
      ['שיעור המע"מ', 'למה הסכום שגוי'],
    )
    expect(start).toContain('במקום 18%')
    for (const found of hits) expect(found.join('\n')).toMatch(/המע/)
  })

  it('French mixed with English', async () => {
    const { start, hits } = await remembered(
      new TranscriptLines({ at: AT })
        .prompt("Corrige le bug du panier: la remise est appliquée deux fois, don't touch the checkout API")
        .tool('Edit', edit('cart.ts', 'total - remise - remise', 'total - remise'), 'ok')
        .says("C'est corrigé : la remise était soustraite deux fois dans `cart.ts`."),
      ['pourquoi la remise', 'appliquee deux fois', 'checkout API'],
    )
    expect(start).toContain('la remise était soustraite deux fois')
    for (const found of hits) expect(found.join('\n')).toContain('remise')
  })
})

describe('a session of one word', () => {
  it('makes no observation, and its start says nothing but the word', async () => {
    for (const word of ['hi', '好', '?', 'x'.repeat(5_000)]) {
      const { observations, start } = await remembered(new TranscriptLines({ at: AT }).prompt(word), [word])
      expect(observations).toEqual([])
      expect(start).not.toMatch(/#\d/)
    }
  })

  it('is accepted with an answer of one word', async () => {
    const { observations } = await remembered(new TranscriptLines({ at: AT }).prompt('ok').says('ok'), ['ok'])
    expect(observations).toEqual([])
  })
})

describe('an output', () => {
  const BINARY = Array.from({ length: 200_000 }, (_, i) => String.fromCharCode((i * 7_919) % 256)).join('')

  it('of 200 KB is read for what it says', async () => {
    const output = `${'x'.repeat(100_000)}\nError: connect ECONNREFUSED 127.0.0.1:5433\n${'y '.repeat(50_000)}`
    const { start, hits } = await remembered(
      new TranscriptLines({ at: AT })
        .prompt('Why does the import fail?')
        .tool('Bash', { command: 'cat import.log' }, output)
        .says('The database is on port 5433 and nothing listens there.'),
      ['database port'],
    )
    expect(start).toContain('5433')
    expect(hits[0]?.join('\n')).toContain('5433')
    expect(start.length).toBeLessThan(10_000)
  })

  it('that is binary leaves no control characters in what is told', async () => {
    const { start, hits } = await remembered(
      new TranscriptLines({ at: AT })
        .prompt('What is in this file?')
        .tool('Bash', { command: 'cat logo.bin' }, BINARY)
        .tool('Edit', edit('logo.ts', 'a', BINARY.slice(0, 5_000)), BINARY)
        .says('The file is a PNG of the logo.'),
      ['logo PNG'],
    )
    expect(start).toContain('PNG of the logo')
    // Line ends only.
    expect([start, ...hits.flat()].join('\n')).not.toMatch(/(?!\n)\p{Cc}/u)
  })
})

describe('a session of another system', () => {
  it('is filed under its own directory, with paths relative to it', async () => {
    const { events, observations } = await remembered(
      new TranscriptLines({ at: AT, cwd: 'c:\\work\\shop' })
        .prompt('Fix the width of the label')
        .tool('Edit', { file_path: 'c:\\work\\shop\\src\\label.ts', old_string: 'w = 4', new_string: 'w = 102' }, 'ok')
        .says('Fixed: the width was in inches.'),
    )
    expect(new Set(events.map(({ project }) => project.key))).toEqual(new Set(['dir:C:\\work\\shop']))
    expect(observations.flatMap(({ filesModified }) => filesModified)).toEqual(['src/label.ts'])
  })

  it('keeps its directory where a line has a relative one', async () => {
    const { events } = await remembered(
      new TranscriptLines({ at: AT }).prompt('one').says('two', { cwd: '.' }).prompt('three', { cwd: 'src' }),
    )
    expect(new Set(events.map(({ cwd }) => cwd))).toEqual(new Set(['/w/shop']))
  })
})
