/** From what is set up to a model that can be asked. A provider is loaded with its first call. */
import type { ChatModel } from '../model/chat.ts'
import { ObserverError } from '../port.ts'
import type { SetUp } from '../set-up.ts'

export interface ChatOptions {
  /** A private, empty directory for a provider that is a program. */
  workDir: string
}

/** A call to what is not set up completely fails with what is missing: sessions wait, and say why. */
export function makeChat(setUp: SetUp, options: ChatOptions): ChatModel {
  let loaded: Promise<ChatModel> | null = null
  return {
    provider: setUp.provider,
    model: setUp.model,
    complete: async (request, signal) => {
      if (setUp.problems.length > 0)
        throw new ObserverError('provider', `${setUp.provider}: ${setUp.problems.join('; ')}`)
      loaded ??= load(setUp, options).catch((error: unknown) => {
        loaded = null
        throw error
      })
      return await (await loaded).complete(request, signal)
    },
  }
}

async function load(setUp: SetUp, { workDir }: ChatOptions): Promise<ChatModel> {
  const { model } = setUp
  if (setUp.provider === 'claude-code') {
    const { claudeCodeModel } = await import('./claude-code.ts')
    return claudeCodeModel({ program: setUp.program ?? '', model, workDir })
  }
  const { baseUrl } = setUp
  const apiKey = setUp.key?.value ?? ''
  switch (setUp.provider) {
    case 'anthropic':
      return (await import('./anthropic.ts')).anthropicModel({ apiKey, baseUrl, model })
    case 'gemini':
      return (await import('./gemini.ts')).geminiModel({ apiKey, baseUrl, model })
    case 'openrouter':
      return (await import('./openrouter.ts')).openrouterModel({ apiKey, baseUrl, model })
  }
}
