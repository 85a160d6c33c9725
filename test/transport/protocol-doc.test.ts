/** docs/protocol.md describes the stream by hand; its tables of operations and routes are generated (`npm run docs`). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { StreamedChange, StreamItem } from '../../src/daemon/actors/stream.ts'

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8')

/** Complete, or it does not compile. */
const ITEMS: Record<StreamItem['type'] | StreamedChange['change'], true> = {
  commit: true,
  change: true,
  forgotten: true,
  pinned: true,
  linked: true,
  imported: true,
  projects: true,
  quarantined: true,
  erased: true,
}

test.each(Object.keys(ITEMS))('protocol.the stream item %s is described', (type) => {
  expect(page).toContain(`\`${type}\``)
})
