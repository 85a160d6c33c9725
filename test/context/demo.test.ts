import { expect, test } from 'vitest'
import { readDemoSession, toolSubject } from '../../scripts/demo/session.ts'

test('demo.session: about sixty tool uses, with failures and what fixed them', () => {
  const tools = readDemoSession().filter(({ tool_name }) => tool_name !== undefined)
  expect(tools.length).toBeGreaterThanOrEqual(55)
  expect(tools.length).toBeLessThanOrEqual(65)
  const failed = tools.filter(({ error }) => error !== undefined).map(toolSubject)
  const succeeded = tools.filter(({ error }) => error === undefined).map(toolSubject)
  expect(failed.length).toBeGreaterThan(2)
  expect(succeeded).toEqual(expect.arrayContaining(failed))
})
