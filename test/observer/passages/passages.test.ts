import { describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { MAX_PASSAGE_CHARS, type PassageDraft } from '../../../src/domain/passage.ts'
import { makePassageFilter, passagesOfEvent } from '../../../src/observer/passages/index.ts'
import { cutProse } from '../../../src/observer/passages/pieces.ts'
import { expectLinearTime } from '../../support/linear-time.ts'
import { bash, bashFails, edit, failed, grep, read, used, write } from '../events.ts'

const base = {
  id: 'e1',
  session: 's',
  at: 1_000,
  client: 'claude-code',
  project: { key: 'dir:/home/dev/shop', name: 'shop' },
  cwd: '/home/dev/shop',
  transcriptPath: null,
  promptId: null,
  agent: null,
}
const prompt = (text: string): MemoryEvent => ({ ...base, kind: 'prompt', text, private: false })
const turnEnd = (lastMessage: string | null, words: string[] = []): MemoryEvent => ({
  ...base,
  kind: 'turn_end',
  lastMessage,
  error: null,
  words,
})
const cut = (event: MemoryEvent): PassageDraft[] => passagesOfEvent(event, 3)
const texts = (event: MemoryEvent): string[] => cut(event).map(({ text }) => text)

describe('passages.what was said', () => {
  it('keeps a prompt with its event, turn and time', () => {
    expect(cut(prompt('Use pnpm, not npm.'))).toEqual([
      {
        kind: 'prompt',
        subject: null,
        outcome: null,
        text: 'Use pnpm, not npm.',
        eventId: 'e1',
        position: 0,
        promptNumber: 3,
        at: 1_000,
      },
    ])
  })

  it('makes nothing of a private prompt', () => {
    expect(cut({ ...base, kind: 'prompt', text: '', private: true })).toEqual([])
  })

  it('keeps closing words before what was written between tool uses, each once', () => {
    const kinds = cut(turnEnd('The cause was the cache.', ['Looking at the cache.', 'Looking at the cache.']))
    expect(kinds.map(({ kind, text, position }) => [kind, text, position])).toEqual([
      ['closing', 'The cause was the cache.', 0],
      ['words', 'Looking at the cache.', 1],
    ])
  })

  it("keeps a subagent's report once, whichever event has it", () => {
    const report = 'The parser is in src/parse.ts.'
    const own = cut({ ...base, kind: 'subagent_end', lastMessage: report, agent: { id: 'a', type: 'Explore' } })
    const tool = cut(
      used('Agent', { description: 'Find it' }, { status: 'completed', content: [{ type: 'text', text: report }] }),
    )
    expect(own.map(({ kind, subject, text }) => [kind, subject, text])).toEqual([['report', null, report]])
    expect(tool.map(({ kind, subject, text }) => [kind, subject, text])).toEqual([['report', null, report]])
  })

  it('reads the report of an agent in the background, which a client reports as a prompt', () => {
    const text =
      '<task-notification>\n<task-id>a1</task-id>\n<result>Fixed the lint errors.</result>\n</task-notification>'
    expect(cut(prompt(text)).map(({ kind, text }) => [kind, text])).toEqual([['report', 'Fixed the lint errors.']])
  })
})

describe('passages.answers', () => {
  const question = {
    question: 'Which database should the tests use?',
    header: 'Database',
    options: [
      { label: 'SQLite', description: 'no server needed' },
      { label: 'PostgreSQL', description: 'as in production' },
    ],
  }

  it('keeps a question with the chosen answer and its meaning', () => {
    const event = used('AskUserQuestion', { questions: [question] }, { answers: { [question.question]: 'SQLite' } })
    expect(cut(event).map(({ kind, text }) => [kind, text])).toEqual([
      ['answer', 'Which database should the tests use?\nAnswer: SQLite (no server needed)'],
    ])
  })

  it('keeps the reason of a refusal, without the words of the client', () => {
    const error =
      "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nthe config is generated, change the template\n\nNote: The user's next message may contain a correction"
    const [passage] = cut(failed('Edit', { file_path: '/home/dev/shop/a.json' }, error))
    expect(passage).toMatchObject({
      kind: 'answer',
      subject: 'Edit a.json',
      text: 'Refused: the config is generated, change the template',
    })
  })

  it('makes nothing of a refusal without a reason', () => {
    expect(cut(failed('Bash', { command: 'rm x' }, "The user doesn't want to take this action right now."))).toEqual([])
  })
})

describe('passages.commands', () => {
  it('keeps the telling lines of a failed test run and none of the passed tests', () => {
    const passed = Array.from({ length: 400 }, (_, i) => `ok ${i} - works`).join('\n')
    const output = `${passed}\nnot ok 7 - adds\nError: expected 3, got 4`
    const [passage] = cut(bashFails('npm test', output))
    expect(passage).toMatchObject({ kind: 'command', subject: 'npm test', outcome: 'failed' })
    expect(passage?.text).toContain('expected 3, got 4')
    expect(texts(bashFails('npm test', output)).join()).not.toContain('- works')
  })

  it('keeps what a command was for, without the directory it ran in', () => {
    const event = used(
      'Bash',
      { command: 'cd /srv/app && make deploy', description: 'Deploy to staging' },
      { stdout: 'deployed v12' },
    )
    expect(cut(event)).toMatchObject([
      { subject: 'make deploy', outcome: 'ok', text: 'Deploy to staging\ndeployed v12' },
    ])
  })

  it('keeps a commit with its hash and whole message', () => {
    const message = 'Fix the cart\n\nThe total was rounded twice,\nso it was off by a cent.'
    const output = '[main 1a2b3c4] Fix the cart\n 2 files changed, 3 insertions(+)\n create mode 100644 src/round.ts'
    const [passage, ...others] = cut(bash(`git commit -m "${message}"`, output))
    expect(others).toEqual([])
    expect(passage).toMatchObject({ kind: 'commit', subject: '1a2b3c4', outcome: 'ok' })
    expect(passage?.text).toContain('rounded twice')
    expect(passage?.text).toContain('2 files changed, 3 insertions(+); new files in src/')
  })

  it('leaves out what only shows files, and preparations without output', () => {
    const quiet = [
      bash('ls -la', 'a\nb'),
      bash('cat src/a.ts', 'const a = 1'),
      bash('git add -A'),
      read('a.ts'),
      grep('x', ['a.ts']),
    ]
    expect(quiet.flatMap(cut)).toEqual([])
  })

  it('leaves out repeated and binary output', () => {
    const repeated = Array.from({ length: 500 }, (_, i) => `waiting for job ${i}`).join('\n')
    expect(
      texts(bash('./wait.sh', repeated))
        .join('\n')
        .match(/waiting/g)?.length,
    ).toBeLessThan(6)
    const binary = Array.from({ length: 3_000 }, (_, i) => String.fromCharCode(0x2500 + ((i * 37) % 400))).join('')
    expect(cut(bash('./dump', binary)).map(({ text }) => text)).toEqual([])
  })
})

describe('passages.edits', () => {
  it('shows a change as a hunk under the path inside of the project', () => {
    expect(cut(edit('src/a.ts', 'const limit = 30', 'const limit = 30', 'const limit = 60'))).toMatchObject([
      { kind: 'edit', subject: 'src/a.ts', text: '-const limit = 30\n+const limit = 60' },
    ])
  })

  it('shows an overwrite of a known file as its changed lines', () => {
    const response = { type: 'update', filePath: '/home/dev/shop/a.txt', originalFile: 'one\ntwo', structuredPatch: [] }
    const event = used('Write', { file_path: '/home/dev/shop/a.txt', content: 'one\nthree' }, response)
    expect(texts(event)).toEqual(['-two\n+three'])
  })

  it('shows of a new file its head and outline, not its contents', () => {
    const body = Array.from({ length: 200 }, (_, i) => `  step(${i})`).join('\n')
    const shown = texts(
      write('src/run.ts', `/** Runs the steps. */\nimport x from 'x'\nexport function run() {\n${body}\n}`),
    ).join('\n')
    expect(shown).toContain('Runs the steps.')
    expect(shown).toContain('export function run()')
    expect(shown).not.toContain('step(50)')
  })
})

describe('passages.results', () => {
  it('keeps what a tool of another server was told and returned', () => {
    const body =
      'The login fails for users whose name has an umlaut, because the cookie is not encoded before it is set.'
    const event = used('mcp__tracker__create_issue', { title: 'Login fails', body }, [
      { type: 'text', text: 'Created #17' },
    ])
    expect(cut(event).map(({ kind, subject, text }) => [kind, subject, text])).toEqual([
      ['result', 'tracker create_issue Login fails', body],
      ['result', 'tracker create_issue Login fails', 'Created #17'],
    ])
  })
})

describe('passages.cutting', () => {
  const sentence = (i: number) => `Sentence number ${i} says something about the system and its parts.`
  const long = Array.from({ length: 40 }, (_, i) => sentence(i)).join(' ')

  it('cuts between sentences and loses none', () => {
    const pieces = cutProse(long, 30)
    expect(pieces.length).toBeGreaterThan(4)
    for (const piece of pieces) expect(piece.endsWith('.')).toBe(true)
    for (let i = 0; i < 40; i++) expect(pieces.some((piece) => piece.includes(sentence(i)))).toBe(true)
  })

  it('keeps a heading with what follows it, also where its section continues', () => {
    const pieces = cutProse(`Intro. ${long.slice(0, 400)}\n\n## Why it failed\n\n${long}`, 30)
    const after = pieces.slice(pieces.findIndex((piece) => piece.includes('## Why it failed')))
    expect(after.length).toBeGreaterThan(2)
    for (const piece of after) expect(piece.startsWith('## Why it failed\n')).toBe(true)
  })

  it('keeps the head of a table with its rows', () => {
    const rows = Array.from({ length: 40 }, (_, i) => `| case ${i} | ${i * 3} ms |`).join('\n')
    for (const piece of cutProse(`| case | time |\n|---|---|\n${rows}`, 30))
      expect(piece).toMatch(/^\| case \| time \|/)
  })

  it('keeps list items whole', () => {
    const item = (i: number) => `- item ${i} is about the ${'very '.repeat(12)}long thing\n  and its second line`
    const pieces = cutProse(Array.from({ length: 12 }, (_, i) => item(i)).join('\n'), 30)
    for (let i = 0; i < 12; i++)
      expect(pieces.filter((piece) => piece.includes(`item ${i} is`) && /second line/.test(piece)).length).toBe(1)
  })

  it.each([
    ['Chinese', '我们决定使用数据库而不是文件。', '。'],
    ['Japanese', 'テストはまだ失敗しています！', '！'],
    ['Hebrew', 'החלטנו להשתמש במסד נתונים אחר. ', '.'],
    ['French', 'On garde l’ancien format, car « stable ». ', '.'],
  ])('cuts %s at the marks of its sentences', (_, text, mark) => {
    const pieces = cutProse(text.repeat(80), 30)
    expect(pieces.length).toBeGreaterThan(1)
    for (const piece of pieces) expect(piece.endsWith(mark)).toBe(true)
  })

  it('never splits a character', () => {
    for (const piece of cutProse('😀'.repeat(3_000), 30))
      expect(/^\p{Surrogate}|\p{Surrogate}$/u.test(piece)).toBe(false)
  })
})

describe('passages.bounds', () => {
  const HOSTILE = ['a', ' ', '\n', '. ', '# x\n', '| ', '- ', '**', '```\n', '。', '\u0000', '+-', '\t\t']
  const EVENTS: Record<string, (text: string) => MemoryEvent> = {
    prompt,
    'turn end': (text) => turnEnd(text, [text]),
    command: (text) => bash('./run', text),
    'command line': (text) => bash(text, text),
    'failed command': (text) => bashFails('./run', text),
    'new file': (text) => write('a.ts', text),
    edit: (text) => used('Edit', { file_path: 'a', old_string: text, new_string: `${text}x` }, {}),
    page: (text) => used('WebFetch', { url: 'https://example.org' }, { result: text }),
    refusal: (text) => failed('Edit', {}, `The tool use was rejected. the user said: ${text}`),
    question: (text) => used('AskUserQuestion', { questions: [{ question: text }] }, { answers: { [text]: text } }),
  }

  it.each(Object.entries(EVENTS))('of a %s: few, short, in order', (_, make) => {
    for (const piece of HOSTILE) {
      const passages = cut(make(piece.repeat(60_000 / piece.length)))
      expect(passages.length).toBeLessThanOrEqual(90)
      for (const [i, passage] of passages.entries()) {
        expect(passage.text.length).toBeLessThanOrEqual(MAX_PASSAGE_CHARS)
        expect(passage.text.trim()).not.toBe('')
        expect(passage.position).toBe(i)
      }
    }
  })

  it.each(Object.entries(EVENTS))('of a %s: in linear time', (name, make) => {
    for (const piece of HOSTILE) expectLinearTime((size) => cut(make(piece.repeat(size / piece.length))), 25_000, name)
  })
})

describe('passages.lists of the user', () => {
  it('tools and files that are never sent to a model make none', () => {
    const mayBePassage = makePassageFilter({ tools: ['mcp__mail__*'], paths: ['ledger/'] })
    const mail = used('mcp__mail__read', { id: '7' }, { text: 'The offer is final.' })
    const hidden = [mail, edit('ledger/march.ts', 'a', 'a', 'b'), bash('cat ledger/march.ts', 'total')]
    expect(hidden.map(mayBePassage)).toEqual([false, false, false])
    const shown = [prompt('look into the ledger'), turnEnd('Done.'), bash('npm test', '3 passed'), bash('cat .env', '')]
    expect(shown.map(mayBePassage)).toEqual([true, true, true, true])
    expect(hidden.map(makePassageFilter({ tools: [], paths: [] }))).toEqual([true, true, true])
  })
})
