import { expect, test } from 'vitest'
import { startSections } from '../../src/viewer/views/start/start-sections.ts'

type Lines = Parameters<typeof startSections>[0]

const turn = { session: 's', turn: 2 }
const LINES: Lines = [
  { part: 'frame', text: '<claude-mem-context>', from: null },
  { part: 'pinned', text: '', from: null },
  { part: 'pinned', text: '## Pinned', from: null },
  { part: 'pinned', text: '- #7 user: “use tabs”', from: { observation: 7 } },
  { part: 'pinned', text: '- #8 user: “no emoji”', from: { observation: 8 } },
  { part: 'state', text: '', from: null },
  { part: 'state', text: '## State when the last session ended', from: null },
  { part: 'state', text: '- Finished', from: turn },
  { part: 'state', text: '- branch `main`', from: turn },
  { part: 'story', text: '', from: null },
  { part: 'story', text: '## How it got here', from: null },
  { part: 'story', text: '- 16 Nov “fix it”\n  “fixed”', from: turn },
  { part: 'more', text: '', from: null },
  { part: 'more', text: 'More: ask', from: null },
  { part: 'frame', text: '</claude-mem-context>', from: null },
]

test('start sections.each line stands in its part, with what it rests on', () => {
  expect(startSections(LINES)).toEqual([
    {
      part: 'pinned',
      title: 'Pinned',
      entries: [
        { text: '#7 user: “use tabs”', from: { observation: 7 } },
        { text: '#8 user: “no emoji”', from: { observation: 8 } },
      ],
    },
    {
      part: 'state',
      title: 'State when the last session ended',
      entries: [{ text: 'Finished\nbranch `main`', from: turn }],
    },
    { part: 'story', title: 'How it got here', entries: [{ text: '16 Nov “fix it”\n“fixed”', from: turn }] },
    { part: 'more', title: '', entries: [{ text: 'More: ask', from: null }] },
  ])
})

test('start sections.a heading that somebody said is a line like others', () => {
  const [section] = startSections([{ part: 'exchange', text: '## Rules', from: turn }])
  expect(section).toEqual({ part: 'exchange', title: '', entries: [{ text: '## Rules', from: turn }] })
})
