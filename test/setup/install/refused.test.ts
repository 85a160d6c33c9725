import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { settingsAt as at } from './fixture.ts'

describe('settings that are refused', () => {
  const bad: [string, string | Buffer, string][] = [
    ['half a file', '{"model": "op', 'is not valid JSON'],
    ['comments', '{\n  // mine\n  "model": "opus"\n}', 'has comments'],
    ['a trailing comma', '{"model": "opus",}', 'is not valid JSON'],
    ['a list', '[]', 'does not hold a JSON object'],
    ['null', 'null', 'does not hold a JSON object'],
    ['hooks that are a list', '{"hooks": []}', 'has "hooks" that are not an object'],
    ['an event that is no list', '{"hooks": {"Stop": {}}}', '"Stop" is not a list'],
    ['another encoding', Buffer.from('\uFEFF{}', 'utf16le'), 'is not UTF-8'],
  ]
  it.each(bad)('%s', (_, input, message) => {
    const place = at(input)
    const before = place.bytes
    expect(() => place.install()).toThrow(message)
    expect(() => place.uninstall()).toThrow('Nothing was changed.')
    expect(place.bytes.equals(before)).toBe(true)
    expect(place.kept).toEqual([])
  })

  it('a read-only file', () => {
    const place = at('{}')
    chmodSync(place.file, 0o444)
    expect(() => place.install()).toThrow('is read-only')
    expect(place.text).toBe('{}')
    expect(place.kept).toEqual([])
  })

  it('a directory under that name', () => {
    const place = at('{}')
    rmSync(place.file)
    mkdirSync(place.file)
    expect(() => place.install()).toThrow('cannot be read')
  })

  it('groups of an unknown shape are ignored', () => {
    const odd = { hooks: { Stop: [null, 7, {}, { hooks: {} }, { hooks: [null, { command: 7 }] }] } }
    const place = at(JSON.stringify(odd))
    place.install()
    expect(place.json.hooks.Stop.slice(0, 5)).toEqual(odd.hooks.Stop)
    place.uninstall()
    expect(place.text).toBe(JSON.stringify(odd))
  })
})
