import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/client/**/*.client.ts'],
    globalSetup: ['test/client/build.setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // One client at a time: each run is a story in order.
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
})
