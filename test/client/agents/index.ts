import type { TestedAgent } from './agent.ts'
import { codexAgent } from './codex.ts'
import { copilotAgent } from './copilot.ts'
import { geminiAgent } from './gemini.ts'
import { openCodeAgent } from './opencode.ts'
import { qwenAgent } from './qwen.ts'

export const TESTED_AGENTS: readonly TestedAgent[] = [codexAgent, geminiAgent, openCodeAgent, copilotAgent, qwenAgent]
