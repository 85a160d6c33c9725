import { expect, test } from 'vitest'
import { isSameFile, lastPathPart } from '../../src/context/recall.ts'

const here = { file: '/home/me/shop/src/cart/total.ts', cwd: '/home/me/shop' }

test.each([
  ['below where its session worked', 'src/cart/total.ts', '/home/me/shop', true],
  ['seen from a directory below', 'cart/total.ts', '/home/me/shop/src', true],
  ['by its whole path', '/home/me/shop/src/cart/total.ts', null, true],
  ['in another worktree', 'src/cart/total.ts', '/home/me/shop-worktree', true],
  ['with odd slashes', './src//cart\\total.ts', '/home/me/shop/', true],
  ['another one of that name', 'total.ts', '/home/me/shop', false],
  ['another one of that name, above', 'src/total.ts', '/home/me/shop', false],
  ['the same path in another package', 'src/cart/total.ts', '/home/me/shop/packages/a', false],
  ['a longer name', 'src/cart/total.tsx', '/home/me/shop', false],
  ['nothing', '', '/home/me/shop', false],
])('a file named %s', (_what, named, directory, same) => {
  expect(isSameFile(named, here, directory)).toBe(same)
})

test('a file outside of both directories is compared by its last parts', () => {
  const outside = { file: '/etc/nginx/sites/shop.conf', cwd: '/home/me/shop' }
  expect(isSameFile('nginx/sites/shop.conf', outside, '/home/me/shop')).toBe(true)
  expect(isSameFile('sites/shop.conf', outside, '/home/me/shop')).toBe(false)
})

test('Windows', () => {
  const windows = { file: 'C:\\Users\\Me\\shop\\src\\total.ts', cwd: 'c:\\Users\\me\\shop' }
  expect(isSameFile('src/total.ts', windows, null)).toBe(true)
  expect(isSameFile('C:/Users/Me/shop/src/total.ts', windows, null)).toBe(true)
  expect(lastPathPart(windows.file)).toBe('total.ts')
})
