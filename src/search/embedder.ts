/** Text to vectors, whatever makes them. Vectors of different embedders are never compared. */
export interface Embedder {
  /** With everything that changes its vectors: `static-1`, `Xenova/all-MiniLM-L6-v2@fp32`. */
  readonly name: string
  readonly dimensions: number
  /** Unit vectors, in the order of the texts; null where a text says nothing to it. */
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>
  /** Where it holds a thread of its own. */
  close?(): Promise<void>
}
