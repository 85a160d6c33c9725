import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectAsked } from '../../src/cli/project.ts'
import { projectOf } from '../../src/memory/project.ts'

test('~ is the home directory, also where the environment has no HOME', () => {
  const home = homedir()
  expect(projectAsked('~/no-such-project', {})).toBe(projectOf(join(home, 'no-such-project')).key)
  expect(projectAsked('~/shop', { HOME: '/home/somebody' })).toBe('dir:/home/somebody/shop')
})
