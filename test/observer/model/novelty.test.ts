import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { InboxEvent } from '../../../src/domain/event.ts'
import { prepareNovelty } from '../../../src/observer/model/novelty.ts'
import { bash, bashFails, edit, failed, grep, used, write } from '../events.ts'
import { ENDED } from './batches.ts'

const NOTHING: ReadonlyMap<string, string> = new Map()

const noveltySubjects = (events: readonly InboxEvent[]) => prepareNovelty(events).subjects
const foldRepeated = (events: readonly InboxEvent[], stored: ReadonlyMap<string, string>) =>
  prepareNovelty(events).fold(stored)

function reads(file: string, content: string, range: { offset?: number; limit?: number } = {}): InboxEvent {
  const path = `/home/dev/shop/${file}`
  const shown = { filePath: path, content, numLines: 1, startLine: range.offset ?? 1, totalLines: 9 }
  return used('Read', { file_path: path, ...range }, { type: 'text', file: shown })
}

/** The reason for folding each event; null if it is fresh. */
function foldsOf(events: InboxEvent[], known = NOTHING): (string | null)[] {
  const { folded } = foldRepeated(events, known)
  return events.map((event) => folded.find((one) => one.eventId === event.id)?.reason ?? null)
}

const AGAIN = 'read again, unchanged'
const SAME = 'the same command with the same result'

describe('novelty.reads', () => {
  test('a file read again unchanged is folded, a changed one is not', () => {
    expect(foldsOf([reads('a.ts', 'one'), reads('a.ts', 'one'), reads('a.ts', 'two')])).toEqual([null, AGAIN, null])
  })
  test('another part of a file is another subject', () => {
    const part = (offset: number) => reads('a.ts', 'one', { offset, limit: 1 })
    expect(foldsOf([reads('a.ts', 'one'), part(1), part(2), part(1)])).toEqual([null, null, null, AGAIN])
  })
  test('a file that was edited is read anew', () => {
    const change = edit('a.ts', 'one', 'one', 'two')
    expect(foldsOf([reads('a.ts', 'one'), change, reads('a.ts', 'two')])).toEqual([null, null, null])
  })
  test('file_unchanged of the client is folded', () => {
    const stub = used('Read', { file_path: '/home/dev/shop/a.ts' }, { type: 'file_unchanged', file: {} })
    expect(foldsOf([reads('a.ts', 'one'), stub, reads('a.ts', 'one')])).toEqual([null, AGAIN, AGAIN])
  })
  test('a file that was cut is always fresh', () => {
    const cut = `head[… 12,345 characters left out …]tail`
    expect(foldsOf([reads('a.ts', cut), reads('a.ts', cut)])).toEqual([null, null])
  })
  test('a file that is too large to compare is always fresh', () => {
    const huge = 'x'.repeat(300_000)
    expect(foldsOf([reads('a.ts', huge), reads('a.ts', huge)])).toEqual([null, null])
  })
})

describe('novelty.commands', () => {
  test('only the last result counts', () => {
    const red = () => bashFails('npm test', '1 failed')
    const green = () => bash('npm test', '3 passed')
    expect(foldsOf([red(), green(), green(), red(), green()])).toEqual([null, null, SAME, null, null])
  })
  test('another directory is another subject', () => {
    const elsewhere = { ...bash('npm test', 'ok'), cwd: '/home/dev/api' }
    expect(foldsOf([bash('npm test', 'ok'), elsewhere])).toEqual([null, null])
  })
  test('a failure is always news', () => {
    const red = () => bashFails('npm test', '1 failed')
    expect(foldsOf([red(), red(), edit('a.ts', 'a', 'a', 'b'), red()])).toEqual([null, null, null, null])
  })
  test.each([
    ['./build/bench', 'blur in 2657 ms', 'blur in 312 ms'],
    ['npm test', '3 passed', '4 passed'],
  ])('%s: "%s" and "%s" differ', (command, first, second) => {
    expect(foldsOf([bash(command, first), bash(command, second)])).toEqual([null, null])
  })
  test('a background command is always fresh', () => {
    const dev = () =>
      used('Bash', { command: 'npm run dev', run_in_background: true }, { stdout: '', backgroundTaskId: 'b1' })
    expect(foldsOf([dev(), dev()])).toEqual([null, null])
  })
})

describe('novelty.routine', () => {
  test.each([
    ['ls -la src', 'only listed files'],
    ['ls', 'only listed files'],
    ['find . -name "*.ts" | head -20', 'only listed files'],
    ['tree -L 2 2>/dev/null', 'only listed files'],
    ['git ls-files | wc -l', 'only listed files'],
    ['cd packages/api && ls; pwd', 'only listed files'],
    ['git -C ../api status -sb 2>&1', 'only listed files'],
    ['pwd', 'only listed files'],
    ['which node', 'only listed files'],
  ])('%s: %s', (command, reason) => {
    expect(foldsOf([bash(command, 'src\nerrors.ts')])).toEqual([reason])
  })
  test.each([
    'ls && npm test',
    'ls > files.txt',
    'ls | tee files.txt',
    'ls | xargs rm',
    'ls $(cat list)',
    'ls `cat list`',
    'ls | sort -o files.txt',
    'find . -name x -delete',
    'find . -exec rm {} ;',
    'find . -execdir rm +',
    'fd -x rm',
    'tree -o out.txt',
    'sed -i s/a/b/ x',
    'git status -v',
    'git branch -D old -v',
    'ls; echo ---',
    'git log --oneline',
    'git diff',
    'git stash',
    'sudo ls',
    './ls',
    'cat a.ts',
    'npm run status &',
    'ls & rm x',
    'echo "We keep the mutex because a channel would block the reader here"; ls',
    'echo $TOKEN; ls',
    'sleep 5',
    'echo done',
    `ls ${'a '.repeat(600)}`,
    '',
    '   ',
  ])('%s is fresh', (command) => {
    expect(foldsOf([bash(command, 'src')])).toEqual([null])
  })
  test('a failed listing is fresh', () => {
    expect(foldsOf([bashFails('ls nowhere', 'No such file'), failed('Glob', { pattern: '*' }, 'no access')])).toEqual([
      null,
      null,
    ])
  })
  test('listing tools and the same search are folded', () => {
    expect(foldsOf([used('LS', { path: '/' }, '- a'), used('Glob', { pattern: '*' }, { filenames: ['a'] })])).toEqual([
      'only listed files',
      'only listed files',
    ])
    expect(foldsOf([grep('x', []), grep('x', ['a.ts']), grep('x', ['a.ts'])])).toEqual([
      null,
      null,
      'the same search with the same result',
    ])
  })
})

describe('novelty.other tools', () => {
  test('edits, agents and plans are always fresh', () => {
    const events = ['Agent', 'Task', 'ExitPlanMode', 'NotebookEdit'].flatMap((tool) => [
      used(tool, { prompt: 'a' }, 'b'),
      used(tool, { prompt: 'a' }, 'b'),
    ])
    const end: InboxEvent = { ...bash(''), kind: 'subagent_end', lastMessage: 'found it' }
    const twice = [write('a.ts', 'x'), write('a.ts', 'x'), ...events, end, { ...end, id: 'end-2' }]
    expect(foldRepeated(twice, NOTHING).fresh).toEqual(twice)
  })
  test('the same request with the same answer is folded, whatever its duration', () => {
    const ask = (durationMs: number, result: string) => used('WebFetch', { url: 'https://a' }, { durationMs, result })
    expect(foldsOf([ask(1, 'a'), ask(2, 'a'), ask(3, 'b')])).toEqual([
      null,
      'the same tool use with the same result',
      null,
    ])
  })
})

const path = fc.constantFrom('a.ts', 'b.ts', 'é\n.ts', `${'d/'.repeat(80)}c.ts`)
const text = fc.oneof(fc.constantFrom('', 'one', 'two\n', '3 passed in 1.2s'), fc.string({ unit: 'binary' }))
const COMMANDS = ['ls', 'git status', 'npm test', 'cat a | tee b', '"', '$(', 'rg x', 'cd a && make', '']
const anyMessage: fc.Arbitrary<InboxEvent> = fc.oneof(
  fc.tuple(path, text).map(([file, content]) => reads(file, content)),
  fc.tuple(path, text).map(([file, content]) => write(file, content)),
  fc.tuple(fc.oneof(fc.constantFrom(...COMMANDS), fc.string()), text).map(([line, out]) => bash(line, out)),
  fc.tuple(fc.constantFrom(...COMMANDS), text).map(([line, out]) => bashFails(line, out)),
  fc
    .tuple(fc.constantFrom('Read', 'Bash', 'Grep', 'Edit', 'MultiEdit', 'mcp__a__b'), fc.jsonValue(), fc.jsonValue())
    .map(([tool, input, response]) => used(tool, input, response)),
)
/** Repeated events have new ids. */
const secondTime = (events: InboxEvent[]) => events.map((event) => ({ ...event, id: `${event.id}'` }))
/** The store returns only the requested subjects. */
function lookedUp(events: readonly InboxEvent[], seen: Iterable<{ subject: string; digest: string }>) {
  const store = new Map([...seen].map(({ subject, digest }) => [subject, digest]))
  return new Map(
    noveltySubjects(events).flatMap((subject) => {
      const digest = store.get(subject)
      return digest === undefined ? [] : [[subject, digest] as const]
    }),
  )
}

describe('novelty.any batch', () => {
  test('is divided in order, and every subject is short and was requested', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (events) => {
        const { fresh, folded, seen } = foldRepeated(events, NOTHING)
        const gone = new Set(folded.map((one) => one.eventId))
        expect(fresh).toEqual(events.filter((event) => !gone.has(event.id)))
        expect(folded.map((one) => one.eventId)).toEqual(events.map((event) => event.id).filter((id) => gone.has(id)))
        for (const { subject, digest } of seen) {
          expect(subject.length).toBeLessThanOrEqual(100)
          expect(digest).toMatch(/^[\da-f]{32}$/)
        }
        for (const subject of noveltySubjects(events)) expect(subject.length).toBeLessThanOrEqual(100)
        expect(new Set(seen.map((one) => one.subject)).size).toBe(seen.length)
      }),
    )
  })
  test('gives the same result in one part or in two', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 8 }), fc.array(anyMessage, { maxLength: 8 }), (one, two) => {
        const whole = foldRepeated([...one, ...two], NOTHING)
        const first = foldRepeated(one, NOTHING)
        const second = foldRepeated(two, lookedUp(two, first.seen))
        expect([...first.fresh, ...second.fresh]).toEqual(whole.fresh)
        expect([...first.folded, ...second.folded]).toEqual(whole.folded)
      }),
    )
  })
  test('that is repeated is folded the second time', () => {
    const repeatable = fc.oneof(
      fc.tuple(path, fc.constantFrom('one', 'two')).map(([file, content]) => reads(file, content)),
      fc.constantFrom('npm test', 'cat a', 'ls').map((line) => bash(line, 'out')),
    )
    fc.assert(
      fc.property(
        fc.uniqueArray(repeatable, { selector: (event) => noveltySubjects([event])[0] ?? event.id, maxLength: 6 }),
        (events) => {
          const first = foldRepeated(events, NOTHING)
          const again = secondTime(events)
          expect(foldRepeated(again, lookedUp(again, first.seen)).fresh).toEqual([])
        },
      ),
    )
  })
})

test('novelty.hostile: a long run of blanks takes no more time than any other text', () => {
  const blanks = bash('npm run report', `a${' '.repeat(250_000)}x\n${'\n'.repeat(200_000)}`)
  expect(noveltySubjects([blanks])).toHaveLength(1)
  expect(foldRepeated([blanks], new Map()).fresh).toEqual([blanks])
})

describe('novelty.reports', () => {
  const report =
    'The routes are in src/api/routes.ts; each handler checks the session first and answers 401 without one.'
  const ended = { ...ENDED, lastMessage: report }
  const task = used('Task', { prompt: 'Where are the routes?' }, { content: [{ type: 'text', text: `${report}\n` }] })
  const TWICE = 'the report of the subagent was told before'

  test('a report in the result of the task and at the end of the subagent is told once, with its task', () => {
    expect(foldsOf([ended, task])).toEqual([TWICE, null])
    expect(foldsOf([task, ended])).toEqual([null, TWICE])
  })
  test('also where the result comes with the next batch', () => {
    const { seen, folded } = foldRepeated([ended], NOTHING)
    expect(folded).toEqual([])
    expect(foldsOf([task], new Map(seen.map(({ subject, digest }) => [subject, digest])))).toEqual([TWICE])
  })
  test('another report, or a word, is not folded', () => {
    const word = { ...ENDED, lastMessage: 'Done.' }
    expect(foldsOf([task, { ...ended, lastMessage: `No: ${report}` }, word, { ...word, id: 'again' }])).toEqual([
      null,
      null,
      null,
      null,
    ])
  })
})
