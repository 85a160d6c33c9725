/** Who may be asked to observe again. Beside the list of the models' providers, so that a command line need not load them. */
export const REPLAY_PROVIDERS = ['offline', 'plain', 'anthropic', 'claude-code', 'gemini', 'openrouter'] as const
export type ReplayProvider = (typeof REPLAY_PROVIDERS)[number]
