import { defineConfig } from 'vitest/config'

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
  },
})
