import { describe, expect, it } from 'vitest'
import { type FilterArgs, filtersOf, isFiltered } from '../../src/cli/filters.ts'
import { idsOf } from '../../src/cli/ids.ts'
import { projectOf } from '../../src/memory/project.ts'

const NOW = new Date(2026, 10, 16, 15).getTime()
const of = (args: Partial<FilterArgs>) => filtersOf({ kind: 'observation', ...args }, {}, NOW)

describe('filters', () => {
  it('are those of the project one stands in', () => {
    expect(of({})).toMatchObject({
      project: projectOf(process.cwd()).key,
      kinds: ['observation'],
      types: [],
      since: null,
    })
    expect(of({ project: 'all' }).project).toBeNull()
    expect(of({ project: 'shop' }).project).toBe('shop')
    expect(of({ project: '.' }).project).toBe(projectOf(process.cwd()).key)
  })

  it('leave the project open where a session is named', () => {
    expect(of({ session: '5f1c' })).toMatchObject({ project: null, session: '5f1c' })
    expect(of({ session: '5f1c', project: 'shop' })).toMatchObject({ project: 'shop' })
  })

  it('take several values with commas', () => {
    expect(of({ type: 'bugfix, decision', concept: 'auth,jwt', kind: 'prompt,summary' })).toMatchObject({
      types: ['bugfix', 'decision'],
      concepts: ['auth', 'jwt'],
      kinds: ['summary', 'prompt'],
    })
    expect(of({ kind: 'all' }).kinds).toEqual(['observation', 'summary', 'prompt'])
  })

  it.each([
    [{ type: 'bugfx' }, 'unknown type "bugfx"; did you mean bugfix?'],
    [{ type: 'zzz' }, 'it is one of bugfix, feature'],
    [{ type: '' }, '--type needs a value'],
    [{ concept: 'a,,b' }, '--concept needs a value'],
    [{ kind: 'observations' }, 'unknown kind "observations"; did you mean observation?'],
    [{ since: 'soon' }, '--since "soon" is no date; it is a date or time such as'],
    [{ until: '2026-02-30' }, '--until "2026-02-30" is no date'],
    [{ since: 'today', until: 'yesterday' }, '--since is after --until'],
    [{ file: Array(51).fill('x').join(',') }, '--file takes at most 50 values'],
  ])('refuse %j', (args, message) => expect(() => of(args)).toThrow(message))

  it('know when there are none', () => {
    expect(isFiltered({ kind: 'observation' })).toBe(false)
    expect(isFiltered({ kind: 'all' })).toBe(false)
    expect(isFiltered({ kind: 'all', project: 'all' })).toBe(false)
    expect(isFiltered({ kind: 'all', project: 'shop' })).toBe(true)
    expect(isFiltered({ kind: 'all', pinned: true })).toBe(true)
  })
})

describe('ids', () => {
  it('are typed in several ways, each counts once', () => {
    expect(idsOf(['12', '#15', '16,17', '12', '007'])).toEqual([12, 15, 16, 17, 7])
  })

  it.each(['0', '-1', '1.5', '1e3', 'x', '9'.repeat(16), '#', "1'--"])('%s is none', (word) => {
    expect(() => idsOf([word])).toThrow('is no id of an observation')
  })
})
