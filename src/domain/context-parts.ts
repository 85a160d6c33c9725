/**
 * Parts of the context that a starting session gets, and kinds of the message that the user gets: values of settings.
 */

/** In the order of the text. */
export const CONTEXT_PARTS = ['pinned', 'state', 'exchange', 'decided', 'story', 'others', 'more'] as const
export type ContextPart = (typeof CONTEXT_PARTS)[number]

export const CONTEXT_MESSAGES = ['full', 'problems', 'off'] as const
export type ContextMessage = (typeof CONTEXT_MESSAGES)[number]
