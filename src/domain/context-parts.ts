/**
 * Parts of the context that a starting session gets, and kinds of the message that the user gets: values of settings.
 */

/** In the order of the text. */
export const CONTEXT_PARTS = [
  'totals',
  'pinned',
  'goal',
  'state',
  'next',
  'decisions',
  'fixes',
  'learned',
  'places',
  'earlier',
  'more',
] as const
export type ContextPart = (typeof CONTEXT_PARTS)[number]

/** Parts of earlier versions, as a settings file may still name them, and what shows the same now. */
export const FORMER_CONTEXT_PARTS: Readonly<Record<string, readonly ContextPart[]>> = {
  summary: ['goal', 'state', 'next'],
  timeline: ['decisions', 'fixes', 'learned', 'places'],
  details: [],
  legend: [],
}

/** The parts that a list of names means, in the order of the text. */
export function contextPartsOf(names: readonly string[]): ContextPart[] {
  const named = new Set(names.flatMap((name) => FORMER_CONTEXT_PARTS[name] ?? name))
  return CONTEXT_PARTS.filter((part) => named.has(part))
}

export const CONTEXT_MESSAGES = ['full', 'problems', 'off'] as const
export type ContextMessage = (typeof CONTEXT_MESSAGES)[number]
