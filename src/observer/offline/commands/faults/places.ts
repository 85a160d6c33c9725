/** Which frames of a stack belong to the project, and how a place becomes a file. */

const FOREIGN =
  /node_modules|node:|internal\/|site-packages|dist-packages|\/lib\/python\d|<frozen|<string>|<stdin>|<anonymous>:|\.cargo\/registry|\/rustc\/|\/gems\/|\/vendor\/|\/usr\/(?:lib|local\/go|include)|\/go\/pkg\/mod|java\.base|\.pyenv\/versions|ext:|\[eval\]/

export function isOwn(path: string): boolean {
  return !FOREIGN.test(path)
}

/** `src/a.ts:3:5` is src/a.ts. */
export function fileOf(place: string): string | null {
  const path = place
    .replace(/^file:\/\//, '')
    .replace(/^\.\/(?=\w)/, '')
    .replace(/(?::\d+){1,2}$/, '')
  return /^[^\s:"'<>|*?]{1,250}$/.test(path.replace(/^[A-Za-z]:/, '')) && /\w/.test(path) ? path : null
}
