/** What the preview asks for: the settings as they are, but for what was moved. */
import type { ContextWish, SettingInfo } from '../../../channel/protocol.ts'
import { CONTEXT_PARTS, type ContextPart } from '../../../memory/context-parts.ts'
import { OBSERVATION_TYPES, type ObservationType } from '../../../memory/observation.ts'

export const SLIDERS = [
  { wish: 'tokens', setting: 'CLAUDE_MEM_CONTEXT_TOKENS', label: 'Tokens', step: 50 },
  { wish: 'observations', setting: 'CLAUDE_MEM_CONTEXT_OBSERVATIONS', label: 'Rows', step: 1 },
  { wish: 'summaries', setting: 'CLAUDE_MEM_CONTEXT_SUMMARIES', label: 'Earlier turns', step: 1 },
] as const

const NAMES = {
  tokens: 'CLAUDE_MEM_CONTEXT_TOKENS',
  observations: 'CLAUDE_MEM_CONTEXT_OBSERVATIONS',
  summaries: 'CLAUDE_MEM_CONTEXT_SUMMARIES',
  parts: 'CLAUDE_MEM_CONTEXT_PARTS',
  types: 'CLAUDE_MEM_CONTEXT_TYPES',
} as const satisfies Record<keyof ContextWish, string>

export type Wanted = Required<ContextWish>

/** As it is set, for a preview to start from. */
export function asSet(settings: readonly SettingInfo[]): Wanted {
  const valueFor = (name: string) => settings.find((setting) => setting.name === name)?.value
  const amount = (name: string) => {
    const value = valueFor(name)
    return typeof value === 'number' ? value : 0
  }
  const words = (name: string): readonly string[] => {
    const value = valueFor(name)
    return Array.isArray(value) ? value : []
  }
  const parts = words(NAMES.parts)
  const types = words(NAMES.types)
  return {
    tokens: amount(NAMES.tokens),
    observations: amount(NAMES.observations),
    summaries: amount(NAMES.summaries),
    parts: CONTEXT_PARTS.filter((part) => parts.includes(part)),
    types: OBSERVATION_TYPES.filter((type) => types.includes(type)),
  }
}

export function withPart({ parts }: Wanted, part: ContextPart, on: boolean): ContextWish {
  return { parts: CONTEXT_PARTS.filter((one) => (one === part ? on : parts.includes(one))) }
}

export function withType({ types }: Wanted, type: ObservationType, on: boolean): ContextWish {
  return { types: OBSERVATION_TYPES.filter((one) => (one === type ? on : types.includes(one))) }
}

/** What has to be written down for the wish to last. */
export function toKeep(set: Wanted, wanted: Wanted): { name: string; value: string | readonly string[] }[] {
  const numbers = (['tokens', 'observations', 'summaries'] as const).flatMap((key) =>
    set[key] === wanted[key] ? [] : [{ name: NAMES[key], value: String(wanted[key]) }],
  )
  const lists = (['parts', 'types'] as const).flatMap((key) =>
    set[key].join() === wanted[key].join() ? [] : [{ name: NAMES[key], value: wanted[key] }],
  )
  return [...numbers, ...lists]
}
