import { mergeConfig } from 'vitest/config'
import usual from './vitest.config.ts'

/** What takes longest: `npm run test:long`. */
const config = mergeConfig(usual, { test: { testTimeout: 180_000 } })

export default { ...config, test: { ...config.test, include: ['test/**/*.long.ts'] } }
