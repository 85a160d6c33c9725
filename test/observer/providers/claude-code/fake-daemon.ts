/** A daemon that is killed in the middle of a call: makes one call, with the options of its only argument. */
import { claudeCodeModel } from '../../../../src/observer/providers/claude-code/index.ts'

const model = claudeCodeModel({ model: 'haiku', ...JSON.parse(process.argv[2] ?? '{}') })
const request = { system: 'Take notes.', messages: [{ role: 'user' as const, content: 'a batch' }], maxTokens: 1_000 }
await model.complete(request, new AbortController().signal)
