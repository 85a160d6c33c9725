/** Index behind what a sticky pattern matches at `at`; `at` itself where it does not. */
export function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
