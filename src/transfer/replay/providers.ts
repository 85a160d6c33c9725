/** The values of `replay --provider`. A separate file, so that the command line can list them without loading observers. */
export const REPLAY_PROVIDERS = ['offline', 'plain', 'anthropic', 'claude-code', 'gemini', 'openrouter'] as const
export type ReplayProvider = (typeof REPLAY_PROVIDERS)[number]
