/** How much of the memory can be asked for at once. For both ends of the channel. */

/** Longer than any question; what is pasted by mistake is longer. */
export const MAX_QUERY_CHARS = 10_000
/** Hits are rows: a page of them is a few hundred KB at most. */
export const MAX_HITS = 500
/** Beyond the end of any memory: a list that is scrolled asks for pages wherever the reader stops. */
export const MAX_OFFSET = 1_000_000
/** Whole observations, each a few KB. */
export const MAX_SHOWN = 200
/** Of each kind, of one session: a long day makes some hundred. */
export const MAX_STORY_ROWS = 10_000
/** Ids to forget or pin; more of them are a filter. */
export const MAX_IDS = 10_000
/** Of a timeline, on either side. */
export const MAX_AROUND = 200
export const MAX_SUMMARIES = 200
/** What somebody writes by hand; a longer text is a file. */
export const MAX_REMEMBERED_CHARS = 20_000
export const MAX_TITLE_CHARS = 300
/** Of one filter, or of the concepts and files of one memory. */
export const MAX_VALUES = 50
