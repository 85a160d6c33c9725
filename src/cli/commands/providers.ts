/** `claude-mem providers`: its command line. The work is done in ../providers.ts. */
import { oneOf, refuseIf } from '../arguments.ts'
import { defineCommand } from '../command.ts'

const ACTIONS = ['list', 'test'] as const

export const providersCommand = defineCommand({
  usage: 'providers [action] [name]',
  group: 'Integrations',
  summary: 'Observers: which model, what it costs, what is missing; test one',
  about:
    'Lists every provider: the chosen one and why, its model, address and key, what is missing and how to set it. test makes ' +
    'one small call. A key in your environment or an installed claude is only used after you have chosen its provider. ' +
    'After each change: claude-mem restart.',
  examples: [
    ['claude-mem providers', 'all of them'],
    ['claude-mem providers test', 'one small call to the chosen one'],
    ['claude-mem providers test gemini', 'to another one, with its current settings'],
    ['claude-mem config set anthropic-api-key', 'anthropic: asks for the key'],
    ['claude-mem config set provider claude-code', 'claude-code: your subscription, through the installed claude'],
    ['claude-mem config set gemini-api-key', 'gemini: asks for the key'],
    ['claude-mem config set openrouter-api-key', 'openrouter: asks for the key'],
    ['claude-mem config set openrouter-base-url ollama', 'Ollama, without any key (or lmstudio, or any address) …'],
    ['claude-mem config set model qwen3:8b', '… and one of its models: ollama list'],
    ['claude-mem config set provider offline', 'offline: rules without a model; sends nothing'],
  ],
  positionals: {
    action: { type: 'string', describe: 'list or test', default: 'list' },
    name: { type: 'string', describe: 'test: anthropic, claude-code, gemini, openrouter or offline' },
  },
  run: async ({ action, name }, cli) => {
    const isTest = oneOf('action', action, ACTIONS) === 'test'
    refuseIf(!isTest && name !== undefined, 'providers list takes no name; to test one: claude-mem providers test')
    const { listProviders, testObserver } = await import('../providers.ts')
    return isTest ? await testObserver(cli, name) : await listProviders(cli)
  },
})
