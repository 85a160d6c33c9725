import { defineConfig } from 'vitest/config'
import { retry } from './vitest.config.ts'

export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    retry,
    // One browser at a time: two on a small machine make each other slow.
    fileParallelism: false,
  },
})
