/**
 * The normal form of the names that people choose in a team: of members, machines and projects. The shared log checks the
 * same in SQL (src/team/postgres/migrations/names.ts), because who writes to it need not use this program. A name is never
 * cleaned: if cleaning made two names equal, one member could pass for another. What differs only in case, width or style
 * is another name here, and the log gives it to nobody else.
 */

/** In code points, as PostgreSQL counts them. */
export const MAX_NAME_CHARS = 60

export const NAME_RULE =
  `1 to ${MAX_NAME_CHARS} letters, marks and digits of any language and . _ ' @ + & - with single blanks between words, ` +
  'composed (Unicode NFC), and not beginning with punctuation'

/** Letters that nobody sees, such as the Hangul filler, are left out. */
const NAME_CHARACTER = /^(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{Nd}._'@+& -]$/u
const MISPLACED = /^[ ._'@+&-]| {2}| $/

export function isNameCharacter(character: string): boolean {
  return NAME_CHARACTER.test(character)
}

export function isName(text: string): boolean {
  const characters = [...text]
  const isBounded = characters.length >= 1 && characters.length <= MAX_NAME_CHARS
  return isBounded && characters.every(isNameCharacter) && !MISPLACED.test(text) && text === text.normalize('NFC')
}

/** The address of a repository also has the punctuation of addresses. */
export function isRepositoryAddress(text: string): boolean {
  const isNormal = (character: string) => /[!-~]/.test(character) || isNameCharacter(character)
  return text !== '' && [...text].every(isNormal) && text === text.normalize('NFC')
}
