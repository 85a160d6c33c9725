import { defineConfig } from 'vitest/config'

function suite(): string {
  if (process.env.CLAUDE_MEM_TEST_PROGRAMS) return 'test/client/agents/*.together.ts'
  return process.env.CLAUDE_MEM_TEST_CLIENT_NAME ? 'test/client/agents/*.agent.ts' : 'test/client/*.client.ts'
}

export default defineConfig({
  test: {
    // Claude Code has a suite of its own; all other clients share one (scripts/npm.mjs names the client).
    include: [suite()],
    globalSetup: ['test/client/build.setup.ts'],
    testTimeout: process.env.CLAUDE_MEM_TEST_CLIENT_NAME || process.env.CLAUDE_MEM_TEST_PROGRAMS ? 300_000 : 120_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // One client at a time: each run is a story in order.
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
})
