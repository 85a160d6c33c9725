import { defineConfig } from 'vitest/config'

/**
 * On a slow machine a test that waits may fail once. It is named by `.ci/run`. A randomised test that found a counterexample
 * is not run again: with another seed it would pass.
 */
export const retry = process.env.CI === undefined ? 0 : { count: 1, condition: /^(?![\s\S]*Counterexample)/ }

export default defineConfig({
  // XState's development build says when a machine is misused. No 'import' here: Vitest hands the list to Node, whose
  // require() would then load ES modules, and `pg` cannot be loaded so.
  resolve: { conditions: ['development', 'node'] },
  ssr: { resolve: { conditions: ['development', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
    retry,
  },
})
