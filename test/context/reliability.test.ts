import { describe, expect, test } from 'vitest'
import { renderContext } from '../../src/context/rendering.ts'
import { selectContext } from '../../src/context/selection.ts'
import type { Observation, Summary } from '../../src/domain/observation.ts'
import type { Passage, PassageKind } from '../../src/domain/passage.ts'
import { at, material, OPTIONS, observation, passage, summary } from './samples.ts'

const early = at(16, 10, 0)
const late = at(16, 14, 0)
const session = 'monday'

const note = (id: number, narrative: string, over: Partial<Observation> = {}) =>
  observation(id, {
    ...{ narrative, session, promptNumber: 1, createdAt: early, model: 'offline', saidBy: 'agent', type: 'discovery' },
    ...over,
  })
const said = (kind: PassageKind, text: string, over: Partial<Passage> = {}) =>
  passage(kind, text, { session, promptNumber: 3, at: late, ...over })
const turnSummary = (over: Partial<Summary>) =>
  summary({ session, promptNumber: 1, createdAt: early, model: 'offline', learned: null, completed: null, ...over })

function start(observations: Observation[], passages: Passage[], summaries: Summary[] = []): string {
  const selection = selectContext(material({ observations, passages, summaries }), OPTIONS)
  return selection === null ? '' : renderContext(selection).text
}
const ids = (text: string) => [...text.matchAll(/^- #(\d+) /gm)].map((match) => Number(match[1]))

/** Something was done in the last turn, so that earlier ones can be outdated. */
const work = said('edit', '+ export const limit = 5', { subject: 'src/limits.ts' })

describe('reliability', () => {
  test('reliability.edited: a description of code that was edited later is not told', () => {
    const described = note(1, 'In `cart.ts` the function `sumCart` rounds each item before it adds them.')
    const other = note(2, 'The gateway `stripe.ts` answers 400 to fractions in `createCharge`.')
    const checked = said('command', '3 passed', { promptNumber: 1, at: early, subject: 'npm test', outcome: 'ok' })
    const edit = said('edit', '-  return sumCart(items)\n+  return roundOnce(sumCart(items))', {
      subject: 'src/cart.ts',
    })
    expect(ids(start([described, other], [edit, checked]))).toEqual([2])
  })

  test('reliability.commit: a problem that a later commit tells is not told as one', () => {
    const problem = turnSummary({
      learned: 'Prettier is referenced in the `fmt` scripts but not listed as a dependency in either package.',
    })
    const commit = said(
      'commit',
      'Add prettier\n\nPrettier was referenced in the fmt scripts but not listed as a dependency in any package.',
      { subject: 'a800ffe' },
    )
    const text = start(
      [],
      [commit, said('command', 'ok', { promptNumber: 1, at: early, subject: 'npm test' })],
      [problem],
    )
    expect(text).not.toContain('in either package')
    expect(text).toContain('a800ffe: Prettier was referenced')
  })

  test('reliability.replaced: of statements about the same name the last one counts', () => {
    const removed = note(1, 'Removed the first call of `requireUser()` in the route.', { type: 'refactor' })
    const restored = note(2, 'Added the call of `requireUser()` back, because the route was open.', {
      ...{ type: 'bugfix', promptNumber: 3, createdAt: late },
    })
    expect(ids(start([removed, restored], []))).toEqual([2])
  })

  test('reliability.checked: how checks ended is not told after they ran again', () => {
    const old = note(1, 'All of `ui-store.test.ts` is covered, 223 tests pass.', { type: 'change' })
    const run = said('command', 'Tests  224 passed (224)', { subject: 'vitest run', outcome: 'ok' })
    expect(ids(start([old], []))).toEqual([1])
    expect(ids(start([old], [run]))).toEqual([])
  })

  test('reliability.discussion: what was only talked about before the work is not told; the words of the user are', () => {
    const idea = note(1, 'A worker pool in `pool.ts` scales better than one thread.')
    const wish = note(2, 'Use `sqlite` instead of a server.', { type: 'decision', saidBy: 'person' })
    expect(ids(start([idea, wish], [work]))).toEqual([2])
    expect(ids(start([idea, wish], []))).toEqual(expect.arrayContaining([1, 2]))
  })

  test('reliability.guess: a guess, a condition, advice and praise are not told', () => {
    const completed = [
      'The cache of `engine.ts` is probably stale.',
      'If `deploy.sh` fails, the image is too large.',
      'The `viewer` is production-ready now.',
      'The `parser.ts` reads the header twice.',
    ].join('\n')
    const checked = said('command', 'ok', { promptNumber: 1, at: early, subject: 'npm test', outcome: 'ok' })
    const text = start(
      [],
      [work, checked],
      [turnSummary({ completed }), turnSummary({ promptNumber: 3, createdAt: late })],
    )
    expect(text).toContain('reads the header twice')
    for (const words of ['probably', 'deploy.sh', 'production-ready']) expect(text).not.toContain(words)
  })

  test('reliability.model: what a model wrote is told as it is', () => {
    const probable = note(1, 'The cache is probably stale, a guess.', { model: 'claude', type: 'discovery' })
    expect(ids(start([probable], [work]))).toEqual([1])
  })

  test('reliability.routine: an error of the compiler that was fixed in its turn is not told', () => {
    const fix = note(
      1,
      '`npm run build` failed: error TS2769: No overload matches. After changes in `a.ts` it succeeded.',
      {
        ...{ type: 'bugfix', concepts: ['problem-solution'] },
      },
    )
    const cause = note(
      2,
      '`npm ci` failed: Exit handler never called. After changes in `Containerfile` it succeeded.',
      {
        ...{ type: 'bugfix', concepts: ['problem-solution'] },
      },
    )
    expect(ids(start([fix, cause], []))).toEqual([2])
  })

  test('reliability.user: a wish that names nothing is not told', () => {
    const vague = note(1, "Let's use something simple and pre-existing.", { type: 'decision', saidBy: 'person' })
    const above = note(2, 'Replace it with the 2-line version above.', { type: 'decision', saidBy: 'person' })
    const clear = note(3, 'We explicitly do not want hardcoded visual tests.', { type: 'decision', saidBy: 'person' })
    expect(ids(start([vague, above, clear], []))).toEqual([3])
  })

  test('reliability.languages: a statement in another script needs no name', () => {
    const completed = '购物车的总金额现在只四舍五入一次。'
    expect(start([], [], [turnSummary({ completed })])).toContain('四舍五入')
  })

  test('state.amended: of commits with one title the newest is told, with the message of the first', () => {
    const first = said('commit', 'Round totals once\n\nThe `total()` lost 3 cents per cart.', {
      subject: 'aaa1111',
      at: early,
    })
    const amended = said('commit', 'Round totals once', { subject: 'bbb2222' })
    const text = start([], [amended, first])
    expect(text).toContain('bbb2222 Round totals once')
    expect(text).not.toContain('aaa1111')
    expect(text).toContain('lost 3 cents')
  })

  test('state.shown: the error in output that the user pasted at the end', () => {
    const pasted = said('prompt', '❯ ./run.sh\nstep 3/7 RUN npm ci\n158.5 npm error Exit handler never called!\n❯', {})
    expect(start([], [pasted, work])).toContain('“./run.sh” printed “158.5 npm error Exit handler never called!”')
  })
})
