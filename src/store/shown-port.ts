/** What sessions were given beside what they started with, so that none of it is given twice. */
export interface ShownStore {
  /** Ids of observations, in no order. */
  shown(session: string): Promise<number[]>
  /** Those of them that were not shown before: they are from now on. None for a session that nobody knows. */
  markShown(session: string, observations: readonly number[], at: number): Promise<number[]>
  /** The client's conversation was emptied: everything may be shown again. */
  clearShown(session: string): Promise<void>
}
