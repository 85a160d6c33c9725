/** Models that are worth a try: their texts need no prefix, and the mean of their tokens is what they were trained for. */

export interface RecommendedModel {
  name: string
  dimensions: number
  /** Of the weights, as the hub lists them. */
  megabytes: number
  languages: string
  about: string
}

export const RECOMMENDED: readonly RecommendedModel[] = [
  {
    name: 'Xenova/all-MiniLM-L6-v2@q8',
    dimensions: 384,
    megabytes: 23,
    languages: 'English',
    about: 'small and quick; a good first one',
  },
  {
    name: 'Xenova/paraphrase-multilingual-MiniLM-L12-v2@q8',
    dimensions: 384,
    megabytes: 118,
    languages: 'about 50',
    about: 'for memories in other languages, Chinese and Japanese among them',
  },
  {
    name: 'jinaai/jina-embeddings-v2-base-code@q8',
    dimensions: 768,
    megabytes: 162,
    languages: 'English and code',
    about: 'trained on code and questions about it; the slowest of these',
  },
]
