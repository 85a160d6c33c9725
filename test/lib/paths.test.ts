/** The rules of each system for paths, tested on every system. */
import { posix, win32 } from 'node:path'
import { describe, expect, test } from 'vitest'
import { comparablePath, dataDirectory, dataPaths, isAtOrBelow, isInside, pathBelow } from '../../src/lib/paths.ts'

const at = (platform: NodeJS.Platform, over: Partial<Parameters<typeof dataPaths>[2]> = {}) => ({
  platform,
  temporary: platform === 'darwin' ? '/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T' : '/tmp',
  user: platform === 'win32' ? null : 501,
  real: (path: string) => path,
  ...over,
})
const socket = (dataDir: string, platform: NodeJS.Platform, over = {}) =>
  dataPaths(dataDir, platform, at(platform, over)).socket

describe('paths.dataDirectory', () => {
  test.each([
    ['C:\\Users\\Zoë Ängström', undefined, win32, 'C:\\Users\\Zoë Ängström\\.claude-mem'],
    ['/Users/zoë', undefined, posix, '/Users/zoë/.claude-mem'],
    ['C:\\Users\\me', 'D:/memory/', win32, 'D:\\memory'],
    ['C:\\Users\\me', '\\\\nas\\home$\\me\\memory', win32, '\\\\nas\\home$\\me\\memory'],
    ['/home/me', '/a/../b//c/', posix, '/b/c'],
    ['/home/me', '  ', posix, '/home/me/.claude-mem'],
  ])('of the home %s with %j', (home, configured, path, expected) => {
    expect(dataDirectory({ CLAUDE_MEM_DATA_DIR: configured }, home, path)).toBe(expected)
  })

  test('its files have the separators of the system', () => {
    expect(dataPaths('C:\\m', 'win32', at('win32'))).toMatchObject({
      database: 'C:\\m\\db.sqlite',
      spoolBad: 'C:\\m\\spool\\bad',
    })
    expect(dataPaths('/m', 'darwin', at('darwin'))).toMatchObject({
      database: '/m/db.sqlite',
      spoolBad: '/m/spool/bad',
    })
  })
})

describe('paths.socket', () => {
  test.each(['linux', 'darwin'] as const)('on %s it is in the data directory while its path fits', (platform) => {
    expect(socket('/home/me/.claude-mem', platform)).toBe('/home/me/.claude-mem/daemon.sock')
    expect(socket('/home/a:b #c%20d?e', platform)).toBe('/home/a:b #c%20d?e/daemon.sock')
    const longest = `/${'x'.repeat(103 - '/daemon.sock'.length - 1)}`
    expect(socket(longest, platform)).toBe(`${longest}/daemon.sock`)
    expect(socket(`${longest}x`, platform)).toMatch(/\/claude-mem-501\/[0-9a-f]{16}\.sock$/)
  })

  test.each(['linux', 'darwin'] as const)('on %s no path is longer than the system takes, in bytes', (platform) => {
    const directories = ['ü'.repeat(60), 'x'.repeat(4_000), '日本'.repeat(20)].map((name) => `/${name}`)
    for (const temporary of ['/tmp', '/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T', `/${'t'.repeat(200)}`]) {
      const sockets = directories.map((directory) => socket(directory, platform, { temporary }))
      expect(sockets.filter((path) => Buffer.byteLength(path) > 103)).toEqual([])
      expect(new Set(sockets).size).toBe(directories.length)
    }
  })

  test('on Windows it is a named pipe with nothing of the path in its name', () => {
    for (const directory of ['C:\\Users\\me\\.claude-mem', '\\\\nas\\me\\a#b%c d', `C:\\${'x'.repeat(300)}`]) {
      expect(socket(directory, 'win32')).toMatch(/^\\\\\.\\pipe\\claude-mem-[0-9a-f]{16}$/)
    }
  })

  test('on Windows one directory has one pipe, however its path is written', () => {
    const pipe = socket('C:\\Users\\Me\\.claude-mem', 'win32')
    for (const same of [
      'c:\\users\\me\\.CLAUDE-MEM',
      'C:/Users/Me/.claude-mem/',
      'C:\\Users\\Other\\..\\Me\\.claude-mem',
      '\\\\?\\C:\\Users\\Me\\.claude-mem',
    ]) {
      expect(socket(same, 'win32'), same).toBe(pipe)
    }
    expect(socket('\\\\?\\UNC\\nas\\me', 'win32')).toBe(socket('\\\\NAS\\me', 'win32'))
  })

  test('on Windows a short name and a junction lead to the pipe of the real directory', () => {
    const real = (path: string) => path.replace('LONGNA~1', 'Long Name')
    expect(socket('C:\\Users\\LONGNA~1\\m', 'win32', { real })).toBe(socket('C:\\Users\\Long Name\\m', 'win32'))
  })

  test('on Windows the pipes of two users differ', () => {
    expect(socket('C:\\Users\\ann\\.claude-mem', 'win32')).not.toBe(socket('C:\\Users\\ben\\.claude-mem', 'win32'))
  })
})

describe('paths.comparablePath', () => {
  test.each([
    ['win32', 'C:\\Work\\Shop', 'c:/work/shop/', true],
    ['win32', '\\\\?\\C:\\work', 'C:\\work', true],
    ['win32', '\\\\.\\C:\\work', 'C:\\work', true],
    ['win32', '\\\\NAS\\Share\\x', '//nas/share/X', true],
    ['win32', '\\\\?\\UNC\\nas\\share', '\\\\nas\\share', true],
    ['win32', 'C:\\work', 'D:\\work', false],
    ['darwin', '/Users/Me/Shop', '/users/me/shop/', true],
    ['darwin', '/Users/zo\u00eb', '/Users/zoe\u0308', true],
    ['linux', '/home/Me', '/home/me', false],
    ['linux', '/home/zo\u00eb', '/home/zoe\u0308', false],
    ['linux', '/home/me/', '/home/me', true],
    ['linux', 'C:\\Work', 'c:/work', true],
    ['linux', '/home/a\\b', '/home/a/b', false],
  ] as const)('on %s %j and %j: %s', (platform, one, other, same) => {
    expect(comparablePath(one, platform) === comparablePath(other, platform)).toBe(same)
  })

  test.each([
    ['win32', 'C:\\work\\shop', 'C:\\', true],
    ['linux', 'C:\\work\\shop', 'C:\\', true],
    ['win32', '\\\\nas\\share\\x', '\\\\nas\\share', true],
    ['win32', 'C:\\workshop', 'C:\\work', false],
    ['win32', '/home/me/x', '/home/me', true],
    ['linux', '/home/me', '/', true],
    ['linux', '/home/me2', '/home/me', false],
    ['darwin', '/Users/ME/x', '/users/me', true],
  ] as const)('on %s %j is at or below %j: %s', (platform, path, root, below) => {
    expect(isAtOrBelow(comparablePath(path, platform), comparablePath(root, platform))).toBe(below)
  })
})

describe('paths.pathBelow', () => {
  test.each([
    ['/home/me/shop', '/home/me/shop/src/a.ts', 'src/a.ts'],
    ['/home/me/shop/', '/home/me/shop/src/a.ts', 'src/a.ts'],
    ['/home/me/shop', '/home/me/shopping/a.ts', null],
    ['/home/me/shop', '/home/me/shop', null],
    ['/home/me/Shop', '/home/me/shop/a.ts', null],
    ['C:\\work\\shop', 'c:\\Work\\shop\\src\\A.ts', 'src/A.ts'],
    ['c:/work/shop', 'C:\\work\\shop\\src\\a.ts', 'src/a.ts'],
    ['C:\\', 'c:\\a.ts', 'a.ts'],
    ['\\\\nas\\share', '\\\\NAS\\share\\x y\\a.ts', 'x y/a.ts'],
    ['/', '/a.ts', null],
    ['', 'a.ts', null],
  ])('%j: %j is %j', (directory, path, below) => {
    expect(pathBelow(directory, path)).toBe(below)
  })
})

describe('paths.isInside', () => {
  test.each([
    [win32, 'C:\\data', 'C:\\data\\x', true],
    [win32, 'C:\\data', 'c:\\DATA\\x', true],
    [win32, 'C:\\data', 'C:\\data..\\x', false],
    [win32, 'C:\\data', 'C:\\data\\..x', true],
    [win32, 'C:\\data', 'D:\\data', false],
    [win32, '\\\\nas\\a', '\\\\nas\\b', false],
    [win32, '\\\\nas\\a', '\\\\nas\\a\\x', true],
    [posix, '/data', '/data', true],
    [posix, '/data', '/data2', false],
    [posix, '/data', '/data/..x', true],
    [posix, '/data', '/', false],
  ])('%#: %j contains %j', (rules, root, path, inside) => {
    expect(isInside(root, path, rules)).toBe(inside)
  })
})
