import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { configuredAuthor } from '../../src/team/team-file.ts'
import { temporaryDirectory } from '../support/directories.ts'

const UNSET = { CLAUDE_MEM_TEAM_AUTHOR: '' }
let directory: string
beforeEach(() => {
  directory = temporaryDirectory('own-author')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const connected = (content: string) => writeFileSync(join(directory, 'team.json'), content, { mode: 0o600 })

test('configuredAuthor.isTheSetting, else the role of the connection', () => {
  expect(configuredAuthor({ team: join(directory, 'team.json') }, UNSET)).toBeNull()
  connected(JSON.stringify({ url: 'postgres://ann%40home:secret@db.example:5432/memory' }))
  expect(configuredAuthor({ team: join(directory, 'team.json') }, UNSET)).toBe('ann@home')
  expect(configuredAuthor({ team: join(directory, 'team.json') }, { CLAUDE_MEM_TEAM_AUTHOR: 'Ann' })).toBe('Ann')
  connected(JSON.stringify({ url: 'postgres://db.example/memory?user=bob' }))
  expect(configuredAuthor({ team: join(directory, 'team.json') }, UNSET)).toBe('bob')
})

test.each(['', 'not json', '[]', 'null', '{"url": 5}', '{"url": "nowhere"}', '{"url": "postgres://%zz@host/db"}'])(
  'configuredAuthor.ofAFileThatCannotBeUsed is nobody: %s',
  (content) => {
    connected(content)
    expect(configuredAuthor({ team: join(directory, 'team.json') }, UNSET)).toBeNull()
  },
)
