import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseObservationIds } from '../../src/cli/arguments.ts'
import { type FilterArgs, hasFilterArgs, parseFilterArgs, parseProject } from '../../src/cli/filters.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'

const NOW = new Date(2026, 10, 16, 15).getTime()
const parse = (args: Partial<FilterArgs>) => parseFilterArgs({ kind: 'observation', ...args }, {}, NOW)

describe('filters', () => {
  it('default to the project of the current directory', () => {
    expect(parse({})).toMatchObject({
      project: projectOfDirectory(process.cwd()).key,
      kinds: ['observation'],
      types: [],
      since: null,
    })
    expect(parse({ project: 'all' }).project).toBeNull()
    expect(parse({ project: 'shop' }).project).toBe('shop')
    expect(parse({ project: '.' }).project).toBe(projectOfDirectory(process.cwd()).key)
  })

  it('search all projects if a session is given', () => {
    expect(parse({ session: '5f1c' })).toMatchObject({ project: null, session: '5f1c' })
    expect(parse({ session: '5f1c', project: 'shop' })).toMatchObject({ project: 'shop' })
  })

  it('take several values separated by commas', () => {
    expect(parse({ type: 'bugfix, decision', concept: 'auth,jwt', kind: 'prompt,summary' })).toMatchObject({
      types: ['bugfix', 'decision'],
      concepts: ['auth', 'jwt'],
      kinds: ['summary', 'prompt'],
    })
    expect(parse({ kind: 'all' }).kinds).toEqual(['observation', 'summary', 'prompt', 'passage'])
  })

  it.each([
    [{ type: 'bugfx' }, 'unknown type "bugfx"; did you mean bugfix?'],
    [{ type: 'zzz' }, 'it is one of bugfix, feature'],
    [{ type: '' }, '--type needs a value'],
    [{ concept: 'a,,b' }, '--concept needs a value'],
    [{ kind: 'observations' }, 'unknown kind "observations"; did you mean observation?'],
    [{ since: 'soon' }, '--since "soon" is not a date; it is a date or time such as'],
    [{ until: '2026-02-30' }, '--until "2026-02-30" is not a date'],
    [{ since: 'today', until: 'yesterday' }, '--since is after --until'],
    [{ file: Array(51).fill('x').join(',') }, '--file takes at most 50 values'],
  ])('refuse %j', (args, message) => expect(() => parse(args)).toThrow(message))

  it('detect that no filter was given', () => {
    expect(hasFilterArgs({ kind: 'observation' })).toBe(false)
    expect(hasFilterArgs({ kind: 'all' })).toBe(false)
    expect(hasFilterArgs({ kind: 'all', project: 'all' })).toBe(false)
    expect(hasFilterArgs({ kind: 'all', project: 'shop' })).toBe(true)
    expect(hasFilterArgs({ kind: 'all', pinned: true })).toBe(true)
  })
})

describe('filters.observation ids', () => {
  it('are accepted in several forms, without duplicates', () => {
    expect(parseObservationIds(['12', '#15', '16,17', '12', '007'])).toEqual([12, 15, 16, 17, 7])
  })

  it.each(['0', '-1', '1.5', '1e3', 'x', '9'.repeat(16), '#', "1'--"])('refuse %s', (word) => {
    expect(() => parseObservationIds([word])).toThrow('is not the id of an observation')
  })
})

describe('filters.project', () => {
  it('reads ~ as the home directory, also without HOME in the environment', () => {
    const home = homedir()
    expect(parseProject('~/no-such-project', {})).toBe(projectOfDirectory(join(home, 'no-such-project')).key)
    expect(parseProject('~/shop', { HOME: '/home/somebody' })).toBe('dir:/home/somebody/shop')
  })
})
