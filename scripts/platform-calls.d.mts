export interface PlatformCall {
  name: string
  /** Names that are imported from a module of Node. */
  imported?: RegExp
  /** A line of code that uses it. */
  pattern?: RegExp
  /** What is done there instead. */
  windows: string
  /** Path in the repository to the reason. */
  files: Readonly<Record<string, string>>
}

export const PLATFORM_CALLS: readonly PlatformCall[]
export function platformCallProblems(texts: ReadonlyMap<string, string>, calls?: readonly PlatformCall[]): string[]
