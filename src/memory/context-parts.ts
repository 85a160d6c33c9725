/** What the memory given to a starting session is made of. */
export const CONTEXT_PARTS = [
  'pinned',
  'summary',
  'earlier',
  'timeline',
  'details',
  'legend',
  'totals',
  'more',
] as const
export type ContextPart = (typeof CONTEXT_PARTS)[number]

/** What the person is told when a session starts. */
export const CONTEXT_MESSAGES = ['full', 'problems', 'off'] as const
export type ContextMessage = (typeof CONTEXT_MESSAGES)[number]
