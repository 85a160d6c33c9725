/**
 * The normal form of names (src/domain/names.ts) in SQL. What PostgreSQL takes for a letter, and for its lower case, depends
 * on the locale of the database; in the locale C only ASCII counts. So both are written out, from the Unicode tables of
 * the program that makes the schema.
 */
import { isNameCharacter, MAX_NAME_CHARS, NAME_RULE } from '../../../domain/names.ts'

const FIRST_AFTER_ASCII = 0x80
/** Higher planes have no letters. */
const LAST_WITH_LETTERS = 0x3ffff

/** Ranges of code points inside brackets of a regular expression. */
function letterRanges(): string {
  const escaped = (code: number) => `\\U${code.toString(16).padStart(8, '0')}`
  let ranges = ''
  let first: number | null = null
  for (let code = FIRST_AFTER_ASCII; code <= LAST_WITH_LETTERS + 1; code++) {
    const isLetter = code <= LAST_WITH_LETTERS && isNameCharacter(String.fromCodePoint(code))
    if (isLetter) first ??= code
    else if (first !== null) {
      ranges += `${escaped(first)}-${escaped(code - 1)}`
      first = null
    }
  }
  return ranges
}

/** Capital letters and, in the same order, the small ones. */
function letterCases(): { capitals: string; small: string } {
  const cases = { capitals: '', small: '' }
  for (let code = 0; code <= LAST_WITH_LETTERS; code++) {
    const letter = String.fromCodePoint(code)
    const lower = letter.toLowerCase()
    if (lower === letter || [...lower].length > 1) continue
    cases.capitals += letter
    cases.small += lower
  }
  return cases
}

const AS_CALLER = 'IMMUTABLE SET search_path = pg_catalog, pg_temp'

/** `folded_name`: names with the same one are too much alike for two members. */
export function nameFunctions(): string {
  const { capitals, small } = letterCases()
  return `
CREATE FUNCTION claude_mem.has_name_characters(given text) RETURNS boolean LANGUAGE sql ${AS_CALLER} AS $$
  SELECT given <> '' AND given !~ '[^A-Za-z0-9._''@+& ${letterRanges()}-]' AND given IS NFC NORMALIZED
$$;

CREATE FUNCTION claude_mem.is_name(given text) RETURNS boolean LANGUAGE sql ${AS_CALLER} AS $$
  SELECT char_length(given) <= ${MAX_NAME_CHARS} AND claude_mem.has_name_characters(given)
    AND given !~ '^[ ._''@+&-]|  | $'
$$;

CREATE FUNCTION claude_mem.is_repository_key(given text) RETURNS boolean LANGUAGE sql ${AS_CALLER} AS $$
  SELECT octet_length(given) <= 500 AND given IS NFC NORMALIZED AND CASE
    WHEN given LIKE 'named:%' THEN claude_mem.is_name(substr(given, 7))
    WHEN given LIKE 'repo:%' THEN claude_mem.has_name_characters(regexp_replace(substr(given, 6), '[!-~]', 'x', 'g'))
    ELSE false
  END
$$;

CREATE FUNCTION claude_mem.folded_name(given text) RETURNS text LANGUAGE sql ${AS_CALLER} AS $$
  SELECT translate(normalize(given, NFKC), '${capitals}', '${small}')
$$;
`
}

/** Inside a string of SQL. */
export const NAME_RULE_SQL = NAME_RULE.replaceAll("'", "''")
