import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FilesReport } from '../../src/api/operations/projects.ts'
import { filesLines } from '../../src/cli/commands/files.ts'
import { createStyle } from '../../src/cli/style.ts'
import { Program } from './program.ts'

describe('files', () => {
  let program: Program
  let shop: string
  const memoryFile = () => join(shop, 'CLAUDE.md')

  beforeAll(async () => {
    program = await Program.make()
    shop = join(program.dataDir, 'work', 'shop')
    mkdirSync(shop, { recursive: true })
    writeFileSync(memoryFile(), '# Shop\r\nno line end')
  }, 60_000)
  afterAll(() => program.end(), 60_000)

  const files = (...args: string[]) => program.run(['files', ...args], { cwd: shop })

  it('on updates a section of CLAUDE.md with the memory, and off restores the file', async () => {
    const before = readFileSync(memoryFile())
    const on = await files('on')
    expect(on).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is remembered yet') })
    expect(readFileSync(memoryFile())).toEqual(before)

    await program.hook({
      cwd: shop,
      hook_event_name: 'PostToolUse',
      tool_name: 'Read',
      tool_use_id: 'tool-1',
      tool_input: { file_path: join(shop, 'port.ts') },
      tool_response: { content: 'const port = 37777' },
    })
    await program.run(['flush'])
    await expect.poll(() => readFileSync(memoryFile(), 'utf8'), { timeout: 10_000 }).toContain('port.ts')
    expect(readFileSync(memoryFile(), 'utf8')).toContain('\r\n## Recent Memory\r\n')

    // The file is updated before the answer is sent.
    const forgotten = await program.run(['forget', '--project', shop, '--kind', 'all', '--yes'])
    expect(forgotten.code).toBe(0)
    expect(readFileSync(memoryFile())).toEqual(before)

    const off = await files('off', '--json')
    expect(JSON.parse(off.stdout)).toMatchObject({ action: 'off', root: null, project: { name: 'shop' } })
    expect(readFileSync(memoryFile())).toEqual(before)
  }, 60_000)

  it('suggests the nearest part', async () => {
    expect(await files('on', '--parts', 'folder')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('folders'),
    })
  })
})

describe('files.output', () => {
  const REPORT: FilesReport = {
    action: 'on',
    dryRun: false,
    project: { key: 'git:/shop/.git', name: 'sh\u001bop' },
    root: '/shop',
    parts: ['project', 'folders'],
    files: [
      { file: '/shop/CLAUDE.md', what: 'changed', why: null },
      { file: '/shop/src/CLAUDE.md', what: 'left', why: 'it is read-only' },
      { file: '/old/CLAUDE.md', what: 'deleted', why: null },
    ],
  }
  const lines = (over: Partial<FilesReport>) =>
    filesLines({ ...REPORT, ...over }, { style: createStyle(false), columns: null, now: 0 })

  it('lists the changed files and how to undo it', () => {
    expect(lines({})).toEqual([
      'The memory of sh\\x1bop is written into files of /shop: project, folders',
      `  changed  ${join('CLAUDE.md')}`,
      `  skipped  ${join('src', 'CLAUDE.md')}: it is read-only`,
      '  removed  /old/CLAUDE.md',
      'They are updated as the memory changes. To undo it: claude-mem files off',
    ])
  })

  it('of a dry run lists the planned changes', () => {
    expect(lines({ dryRun: true }).slice(0, 2)).toEqual([
      'The memory of sh\\x1bop would be written into files of /shop: project, folders',
      '  would change      CLAUDE.md',
    ])
  })

  it('lists the sections that could not be removed', () => {
    const left = lines({ action: 'off', parts: [] })
    expect(left[0]).toContain('some sections could not be removed')
    expect(left.at(-1)).toContain('claude-mem files clean')
  })
})
