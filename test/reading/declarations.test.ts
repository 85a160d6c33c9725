import { describe, expect, test } from 'vitest'
import type { InboxEvent } from '../../src/domain/event.ts'
import { declaredName, functionsChanged } from '../../src/reading/declarations.ts'
import { passagesOfEvent } from '../../src/reading/passages.ts'
import { edit, used, write } from '../observer/events.ts'

describe('a declaration', () => {
  test.each([
    ['a.ts', 'export async function total(a: number): number {', 'total'],
    ['a.ts', 'export const total = (a: number) => a', 'total'],
    ['a.ts', '  private total(a: number): number {', 'total'],
    ['a.tsx', 'export default class Cart extends Base {', 'Cart'],
    ['a.ts', 'type Cart = {', 'Cart'],
    ['a.py', '    async def total(self):', 'total'],
    ['a.go', 'func (c *Cart) Total() int {', 'Total'],
    ['a.rs', 'pub(crate) fn total<T>(a: T) -> T {', 'total'],
    ['a.rs', 'impl<T> Cart<T> for Shop {', 'Cart<T> for Shop'],
    ['A.java', '  public static int total(List<Item> items) {', 'total'],
    ['a.cpp', 'int Cart::total(const Items& items) const {', 'total'],
    ['a.cs', 'public sealed class Cart : Base', 'Cart'],
    ['a.kt', 'suspend fun total(items: List<Item>): Int {', 'total'],
    ['a.swift', 'func total(items: [Item]) -> Int {', 'total'],
    ['a.php', 'public function total(array $items)', 'total'],
    ['a.rb', '  def self.total!(items)', 'total!'],
    ['a.ex', '  defp total(items) do', 'total'],
    ['a.sh', 'total() {', 'total'],
    ['a.sql', 'CREATE TABLE IF NOT EXISTS carts (', 'carts'],
  ])('%s: %s', (file, line, name) => expect(declaredName(file, line)).toBe(name))

  test.each([
    ['a.ts', '  if (a) {'],
    ['a.ts', '  useEffect(() => {'],
    ['a.ts', '  return total(a)'],
    ['a.py', '    total = 3'],
    ['A.java', '    return total(items);'],
    ['a.go', '  total(items)'],
    ['a.txt', 'function total() {'],
    ['a.md', 'class of its own'],
  ])('%s: %s is none', (file, line) => expect(declaredName(file, line)).toBe(null))
})

describe('functions that a turn changed', () => {
  const changed = (...events: InboxEvent[]) =>
    functionsChanged(events.flatMap((event) => passagesOfEvent(event, 1))).map(
      ({ name, action }) => `${action} ${name}`,
    )
  const CART = 'class Cart {\n  total(items) {\n    return 0\n  }\n}\n'

  test('are new, modified inside, renamed or deleted', () => {
    expect(changed(edit('a.js', CART, '    return 0', '    return 1'))).toEqual(['modified total'])
    expect(changed(edit('a.js', 'x\n', 'x', 'function a() {\n}'))).toEqual(['new a'])
    expect(changed(edit('a.js', CART, '  total(items) {', '  sum(items) {'))).toEqual([
      'new sum',
      'deleted total',
      'modified Cart',
    ])
    expect(changed(edit('a.js', CART, '  total(items) {', '  total(items, tax) {'))).toEqual([
      'modified Cart',
      'modified total',
    ])
  })
  test('stay new where they are changed again', () => {
    expect(
      changed(
        write('a.js', 'function a() {\n  return 0\n}\n'),
        edit('a.js', 'function a() {\n  return 0\n}\n', '  return 0', '  return 1'),
      ),
    ).toEqual(['new a'])
  })
  test('are none in prose, data and files that are gone', () => {
    expect(
      changed(
        write('a.md', '# function a() {'),
        edit('a.json', '{}', '{}', '{"a":1}'),
        used('Delete', { file_path: '/home/dev/shop/a.js' }, {}),
      ),
    ).toEqual([])
  })
})
