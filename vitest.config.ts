import { defineConfig } from 'vitest/config'

export default defineConfig({
  // XState's development build says when a machine is misused.
  resolve: { conditions: ['development', 'node', 'import', 'default'] },
  ssr: { resolve: { conditions: ['development', 'node', 'import', 'default'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
  },
})
