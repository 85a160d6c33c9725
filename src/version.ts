/** The program's version, put in by the build; tests run the sources themselves. */
declare const __VERSION__: string | undefined

export const VERSION: string = typeof __VERSION__ === 'undefined' ? '0.0.0-source' : __VERSION__

/** Negative when `a` is older than `b`. Pre-release words count as older than the release. */
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
