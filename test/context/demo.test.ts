import { expect, test } from 'vitest'
import { STORY } from '../../scripts/demo/story.ts'

test('demo.story holds together: about sixty tool uses, with failures and what fixed them', () => {
  const steps = STORY.flatMap((turn) => turn.steps)
  expect(steps.length).toBeGreaterThanOrEqual(55)
  expect(steps.length).toBeLessThanOrEqual(65)
  const failed = steps.filter((step) => step.error !== undefined).map((step) => step.shown)
  const succeeded = steps.filter((step) => step.error === undefined).map((step) => step.shown)
  expect(failed.length).toBeGreaterThan(2)
  expect(succeeded).toEqual(expect.arrayContaining(failed))
})
