/**
 * Without the characters at its end that the pattern for one character matches. A pattern such as `/[.!]+$/` reads a long run
 * in the middle of a text again from each of its characters, which takes quadratic time; this reads the end only.
 */
export function trimEndMatching(text: string, character: RegExp): string {
  let end = text.length
  while (end > 0 && character.test(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}
