import { expect, test } from 'vitest'
import { shownPath } from '../../src/context/lines.ts'

const SHOP = { key: 'repo:github.com/acme/shop', name: 'shop' }

test('a path is shown as seen from any clone of a repository', () => {
  const roots = ['/home/me/shop', 'C:\\work\\shop']
  expect(shownPath('/home/me/shop/src/login.ts', SHOP, roots)).toBe('src/login.ts')
  expect(shownPath('C:\\work\\shop\\src\\login.ts', SHOP, roots)).toBe('src/login.ts')
  expect(shownPath('/home/me/shop-old/login.ts', SHOP, roots)).toBe('/home/me/shop-old/login.ts')
  expect(shownPath('/home/me/shop/login.ts', { key: 'git:/home/me/shop/.git', name: 'shop' })).toBe('login.ts')
})
