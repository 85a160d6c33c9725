/** The tables that hold words. */
export const FULL_TEXT_TABLES = ['memory_fts', 'chunk_fts'] as const
export type FullTextTable = (typeof FULL_TEXT_TABLES)[number]
