/** How much of a reply is kept. More is cut off, never refused: a model that says too much still said something. */

/** A title is read in a list, one line each. */
export const MAX_TITLE_CHARS = 200
export const MAX_SUBTITLE_CHARS = 300
/** Some two pages: more is a transcript, not a memory. */
export const MAX_NARRATIVE_CHARS = 8_000
/** The same for each part of a summary. */
export const MAX_SUMMARY_CHARS = 8_000
export const MAX_FACTS = 40
export const MAX_FACT_CHARS = 1_000
export const MAX_CONCEPTS = 20
/** A concept is a word or a few. */
export const MAX_CONCEPT_CHARS = 60
export const MAX_FILES = 200
/** Linux takes paths up to 4,096 bytes; what people give files is far shorter. */
export const MAX_PATH_CHARS = 1_024
export const MAX_FUNCTIONS = 100
/** A method with its class, or a signature. */
export const MAX_FUNCTION_CHARS = 300
/** More than any batch holds. */
export const MAX_OBSERVATIONS = 50
export const MAX_SOURCES = 200
/** Why something was skipped is told in one line. */
export const MAX_REASON_CHARS = 500
