/** The program's version. The build replaces `__VERSION__`; tests run from source without it. */
declare const __VERSION__: string | undefined

export const VERSION: string = typeof __VERSION__ === 'undefined' ? '0.0.0-source' : __VERSION__

/** Negative if `a` is older than `b`. A pre-release is older than its release. */
export function compareVersions(a: string, b: string): number {
  const [aCore = '', aPre] = a.split('-', 2)
  const [bCore = '', bPre] = b.split('-', 2)
  const left = aCore.split('.').map(Number)
  const right = bCore.split('.').map(Number)
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  if (aPre === bPre) return 0
  if (aPre === undefined) return 1
  if (bPre === undefined) return -1
  return aPre < bPre ? -1 : 1
}
