import { describe, expect, test } from 'vitest'
import { outerSentences } from '../../../src/observer/rules/closing.ts'
import { titleOf } from '../../../src/observer/rules/drafts.ts'
import { fingerprintOf, isChatter, type StatementRole } from '../../../src/observer/rules/statement-roles.ts'
import { readStatements } from '../../../src/observer/rules/statements.ts'

const texts = (message: string): string[] => readStatements(message).map(({ text }) => text)
const roles = (message: string): [string, StatementRole][] =>
  readStatements(message).map(({ text, role }) => [text, role])

describe('statements.lists', () => {
  test('items that are no sentences are told with the sentence before them', () => {
    expect(texts('The rebase hit conflicts in:\n- `cart.ts`\n- the lock file')).toEqual([
      'The rebase hit conflicts in: `cart.ts`; the lock file.',
    ])
  })
  test('items that stand alone are statements, with their label', () => {
    expect(
      texts('## Summary\n\n- **Cart**: totals are rounded per line\n- Added `roundHalfUp()` to src/money.ts'),
    ).toEqual(['Cart: totals are rounded per line.', 'Added `roundHalfUp()` to src/money.ts.'])
  })
  test('nested items belong to their parent', () => {
    expect(texts('- Split the importer into two stages:\n  - parse\n  - store')).toEqual([
      'Split the importer into two stages: parse; store.',
    ])
  })
  test('rows of a table have the names of their columns', () => {
    expect(texts('| Query | Before | After |\n|---|---|---|\n| orders | 900 ms | 40 ms |')).toEqual([
      'Orders: Before 900 ms; After 40 ms.',
    ])
  })
  test('a command in a code block is told with the sentence that introduces it', () => {
    expect(texts('Rebuild the image with:\n\n```bash\n# once\nmake image\n```')).toEqual([
      'Rebuild the image with: `make image`.',
    ])
  })
  test('a long code block is left out', () => {
    expect(texts('The type is:\n```ts\nexport interface A {\n  b: string\n}\n```\nIt lives in src/a.ts.')).toEqual([])
  })
  test('lines that were wrapped at a column are one sentence', () => {
    expect(texts('The timeline was anchored to the present, so historical events were always\nout of view.')).toEqual([
      'The timeline was anchored to the present, so historical events were always out of view.',
    ])
  })
})

describe('statements.markdown', () => {
  test('bold text loses its asterisks, a glob keeps them', () => {
    expect(texts('- Excluded **generated files** from Biome with !**/node_modules/**/* and src/gen/**')).toEqual([
      'Excluded generated files from Biome with !**/node_modules/**/* and src/gen/**.',
    ])
    expect(texts('- Moved **src/lib/** into the package, which **fixes the import')).toEqual([
      'Moved src/lib/ into the package, which fixes the import.',
    ])
  })
})

describe('statements.sentences', () => {
  test('a sentence that needs the one before it is added to that', () => {
    expect(
      texts('The pool never shrinks because `release` returns early. This leaks a connection per request.'),
    ).toEqual(['The pool never shrinks because `release` returns early. This leaks a connection per request.'])
  })
  test('without one before it, it is left out, or told about the change', () => {
    expect(texts('That moves the border by 2 px.')).toEqual([])
    expect(readStatements('That moves the border by 2 px.', 'The change').map(({ text }) => text)).toEqual([
      'The change moves the border by 2 px.',
    ])
  })
  test.each([
    'Let me know if you want more.',
    'Perfect! Everything works now!',
    'Now let me run the tests.',
    'All quality checks pass.',
    'The working tree is clean.',
    "Here's a summary of the changes.",
    'Done.',
    'Want me to commit it',
  ])('"%s" says nothing', (sentence) => {
    expect(isChatter(sentence)).toBe(true)
  })
  test.each([
    'The importer reads `cp1252`, not UTF-8.',
    '329 tests pass in 11 packages.',
    'Lines without a level are skipped and counted.',
  ])('"%s" is a statement', (sentence) => {
    expect(isChatter(sentence)).toBe(false)
  })
})

describe('statements.roles', () => {
  test('cause, choice, guess, next step and question are told apart', () => {
    expect(
      roles(
        'The build failed because `tsc` read the generated files. I chose SQLite instead of Redis since one process writes. The cache is probably stale. Foreign currencies are not yet supported. Should I add them?',
      ).map(([, role]) => role),
    ).toEqual(['cause', 'choice', 'guess', 'next', 'question'])
  })
  test('options that nobody chose are options', () => {
    expect(
      roles('Options:\n1. Use a queue\n2. Poll the table\n\nWhich one do you prefer?').map(([, role]) => role),
    ).toEqual(['option', 'option', 'question'])
  })
  test('items under a heading for what is left, and open check boxes, are next steps', () => {
    expect(
      roles(
        '## Remaining\n- Rotate the keys in staging\n\n## Done\n- [x] Rotated the keys in test\n- [ ] Tell the on-call team',
      ),
    ).toEqual([
      ['Remaining: Rotate the keys in staging.', 'next'],
      ['Tell the on-call team.', 'next'],
      ['Rotated the keys in test.', 'result'],
    ])
  })
  test('what was done stays a result where the sentence ends with a hope', () => {
    expect(roles('Raised the timeout to 30 s, which should be enough for the report.')[0]?.[1]).toBe('result')
  })
})

describe('statements.languages', () => {
  test('Chinese is cut at its own marks', () => {
    expect(texts('已修复登录错误。原因是令牌在五分钟后过期。')).toEqual([
      '已修复登录错误。',
      '原因是令牌在五分钟后过期。',
    ])
  })
  test('French gives statements', () => {
    expect(texts('Le délai est passé à 30 secondes. Il faut encore tester la reprise.')).toEqual([
      'Le délai est passé à 30 secondes.',
      'Il faut encore tester la reprise.',
    ])
  })
  test('a text that no rule understands is told by its first and last sentence', () => {
    expect(outerSentences('שרת הבדיקות הועבר לכתובת חדשה. אמצע. הסיסמה נשמרת בקובץ ההגדרות.')).toEqual([
      'שרת הבדיקות הועבר לכתובת חדשה.',
      'הסיסמה נשמרת בקובץ ההגדרות.',
    ])
    expect(outerSentences('Готово, сервер перенесён.\nСередина текста тут.\nПароль хранится в файле.')).toEqual([
      'Готово, сервер перенесён.',
      'Пароль хранится в файле.',
    ])
  })
})

describe('statements.titles', () => {
  test.each([
    ['I fixed the total of `cart.ts`.', 'Fixed the total of cart.ts'],
    [
      'When you scroll all the way back, the earliest event is at the left edge of the timeline.',
      'The earliest event is at the left edge of the timeline',
    ],
    ['`npm test` passes with 12 tests.', 'npm test passes with 12 tests'],
    ['main.rs is split into three modules.', 'main.rs is split into three modules'],
  ])('of "%s" is "%s"', (statement, title) => {
    expect(titleOf(statement)).toBe(title)
  })
  test('a fingerprint does not depend on order, case and punctuation', () => {
    expect(fingerprintOf('The cache is stale!')).toBe(fingerprintOf('Stale is the cache'))
  })
})
