import { existsSync, lstatSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { settingsAt as at } from './fixture.ts'
import { COMMAND, INPUTS } from './inputs.ts'

describe('uninstall', () => {
  it('keeps later changes of the user', () => {
    const place = at(INPUTS['two spaces'])
    place.install()
    writeFileSync(place.file, place.text.replace('"opus"', '"haiku"'))
    const { how, backup } = place.uninstall()
    expect(how).toBe('removed')
    expect(readFileSync(String(backup), 'utf8')).toContain(JSON.stringify(COMMAND))
    expect(place.text).toBe(String(INPUTS['two spaces']).replace('"opus"', '"haiku"'))
  })

  it('keeps what was changed between two installations', () => {
    const place = at(INPUTS.tabs)
    place.install('2.0.0')
    writeFileSync(place.file, place.text.replace('"opus"', '"haiku"'))
    place.install('2.1.197')
    expect(place.uninstall().how).toBe('restored')
    expect(place.text).toBe(String(INPUTS.tabs).replace('"opus"', '"haiku"'))
  })

  it('removes a file and a directory that it created', () => {
    const place = at(null)
    expect(place.install()).toMatchObject({ changed: true, backup: null })
    expect(statSync(place.file).mode & 0o777).toBe(0o600)
    expect(place.uninstall().how).toBe('file removed')
    expect(existsSync(join(place.home, '.claude'))).toBe(false)
  })

  it('keeps a directory that is no longer empty', () => {
    const place = at(null)
    place.install()
    writeFileSync(join(place.home, '.claude', 'history.jsonl'), '')
    place.uninstall()
    expect(existsSync(place.file)).toBe(false)
    expect(existsSync(join(place.home, '.claude', 'history.jsonl'))).toBe(true)
  })

  it('does nothing without our entries', () => {
    const place = at(null)
    expect(place.uninstall()).toMatchObject({ changed: false, how: 'nothing' })
    expect(existsSync(join(place.home, '.claude'))).toBe(false)
  })

  it('removes only our entries if the copy is missing', () => {
    const place = at(INPUTS['four spaces'])
    const { backup } = place.install()
    rmSync(String(backup))
    expect(place.uninstall().how).toBe('removed')
    expect(place.text).toBe(INPUTS['four spaces'])
  })
})

describe('what is kept', () => {
  it('is a private copy with the time in its name', () => {
    const place = at(INPUTS['two spaces'])
    const { backup } = place.install()
    expect(backup).toBe(join(place.dataDir, 'install', '2026-11-16T10-00-00.000Z-settings.json'))
    expect(readFileSync(String(backup), 'utf8')).toBe(INPUTS['two spaces'])
    expect(statSync(String(backup)).mode & 0o077).toBe(0)
  })

  it('is nothing after a dry run, which prints the diff', () => {
    const place = at(INPUTS['two spaces'])
    const { changed, diff } = place.install('2.1.197', { dryRun: true })
    expect(changed).toBe(true)
    expect(diff[0]).toBe(`--- ${place.file}`)
    expect(diff.filter((line) => line.startsWith('+')).join('\n')).toContain(JSON.stringify(COMMAND))
    expect(place.text).toBe(INPUTS['two spaces'])
    expect(existsSync(place.dataDir)).toBe(false)
    place.install()
    const installed = place.text
    expect(place.uninstall({ dryRun: true }).diff.some((line) => line.startsWith('-'))).toBe(true)
    expect(place.text).toBe(installed)
    expect(place.uninstall().how).toBe('restored')
  })
})

describe('a link', () => {
  it('stays, its target changes', () => {
    const place = at(INPUTS.tabs)
    const target = join(place.home, 'dotfiles.json')
    renameSync(place.file, target)
    symlinkSync(target, place.file)
    place.install()
    expect(lstatSync(place.file).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, 'utf8')).toContain('hook.cjs')
    place.uninstall()
    expect(lstatSync(place.file).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, 'utf8')).toBe(INPUTS.tabs)
  })

  it('to a file that does not exist yet', () => {
    const place = at('{}')
    rmSync(place.file)
    symlinkSync('../later.json', place.file)
    place.install()
    expect(existsSync(join(place.home, 'later.json'))).toBe(true)
    place.uninstall()
    expect(existsSync(join(place.home, 'later.json'))).toBe(false)
    expect(lstatSync(place.file).isSymbolicLink()).toBe(true)
  })
})
