/**
 * What a word counts in each part of a memory. The absolute numbers matter too: with 3, a second occurrence of a word counts
 * little, as it should in short texts.
 */
import type { ColumnWeights } from '../store/search-port.ts'

export const COLUMNS: ColumnWeights = { title: 4, body: 3, facts: 3, names: 3, grams: 3, neighbours: 0.75 }
