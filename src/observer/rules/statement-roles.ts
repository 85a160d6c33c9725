/** What a statement says (a result, a cause, a choice, what is next, a question), and which sentences say nothing. */
import { trimEndMatching } from '../../lib/trim.ts'
import { wordList } from '../tool-events/text.ts'

/** `option`: of a list that the agent offered; nobody has chosen it. */
export type StatementRole = 'result' | 'cause' | 'choice' | 'guess' | 'next' | 'question' | 'option'

/** One fact of an observation, in characters. */
export const MAX_STATEMENT_CHARS = 420

const NEXT_SECTION =
  /\b(?:next|to-?dos?|remain(?:s|ing)?|follow-?ups?|what'?s left|still (?:open|to do|missing)|future|outstanding|not (?:yet )?(?:done|addressed|covered)|open (?:points|items|issues|tasks)|action items|deferred|prochaines? étapes?|reste à faire|nächste schritte|offen|pendientes?|próximos pasos)\b|下一步|待办|后续/i
const OPTION_LEAD =
  /\?\W*$|\b(?:options?|alternatives?|possibilit(?:y|ies)|candidates?|should i|shall i|would you|do you want|want me to|you could|we could|i could|you can either|open questions?|questions?|trade-?offs?|pros|cons|either)\b|选项|还是$/i
const NEXT =
  /^(?:not (?:yet )?(?:done|covered|implemented|included|tested|addressed|supported)|next(?: steps?)?|to-?do|remaining|follow-?ups?|still)\b|\b(?:still (?:to do|needs?|need to|has to|have to|missing|open|outstanding|pending|fails?|failing)|remains? (?:to|open|un|the)|left to do|not yet|you (?:can now|(?:will |'ll )?need to|should|must|may want to|might want to|have to)|(?:has|have)(?: not|n'?t) (?:been|touched|tested|run|done|checked)|before (?:this|it|we|you|deploy\w*|merg\w*|going|running|production)|follow[- ]?up|deferred|future (?:work|consideration)|if (?:that|this|it) (?:still )?(?:fails|does(?: not|n'?t) work)|il (?:faut|faudra) encore|pas encore|noch nicht|muss noch|todavía|falta)\b|\breste à |下一步|接下来|还需要|尚未/i
const CAUSE =
  /\b(?:because|root cause|turn(?:s|ed) out|caused? by|causes?|the (?:\w+ )?(?:issue|problem|bug|reason|culprit|failure|error) (?:is|was|were|came)|due to|which (?:is|was) why|that'?s why|means? that|found (?:that|out)|discovered|happens when|only when|parce que|à cause|car\b|weil|wegen|porque|debido a)\b|因为|由于|原因/i
const CHOICE =
  /\b(?:i|we|you|the user|users?) (?:\w+ )?(?:decided|chose|opted|picked|settled on|went with|kept|agreed|preferred)\b|^(?:decided|chose|opted|picked|settled on|went with|kept)\b|\b(?:deliberately|intentionally|on purpose)\b|\b(?:uses?|used|kept|keeps?) .{1,120}\b(?:instead of|rather than)\b.{1,160}\b(?:because|since|so that|to (?:avoid|keep|stay))\b/i
/** The agent does not know it; such sentences are often wrong a turn later. */
const GUESS =
  /\b(?:probably|might|may be|maybe|perhaps|likely|presumably|possibly|my guess|i (?:think|guess|suspect|believe|assume)|seems? (?:to|like)|appears? to|could be|should (?:now )?(?:be|make|let|allow|show|give|work|pass|fix|resolve|help|display|succeed)|peut-être|sans doute|wahrscheinlich|vermutlich|quizás)\b|可能|也许/i
const QUESTION = /[?？]\W{0,3}$/

/** `section` is the heading of the list that the statement is in, or that it directly follows. */
export function roleOf(text: string, section: string | null): StatementRole {
  if (QUESTION.test(text)) return 'question'
  if (section !== null && NEXT_SECTION.test(section)) return 'next'
  if (section !== null && isOptionLead(section)) return 'option'
  if (NEXT.test(text)) return 'next'
  // What was done is certain, also where the sentence ends with what it should lead to.
  if (GUESS.test(text) && !PAST_START.test(text)) return 'guess'
  if (CHOICE.test(text)) return 'choice'
  return CAUSE.test(text) ? 'cause' : 'result'
}

export function isUncertain(text: string): boolean {
  return GUESS.test(text) || /\b(?:possible|potential)\b/i.test(text)
}

export function isOptionLead(lead: string): boolean {
  return OPTION_LEAD.test(lead)
}

/** Offers, praise, promises and talk about the message itself. */
const CHATTER = [
  /^(?:["“'‘]|you(?:'re| are| want| need| have|'ve)\b|try (?:it|again|\w+ing)\b|i'?m (?:in the middle|currently|still|now)\b)/i,
  /^(?:all |the |every |push |commit |both )?(?:\w+ ){0,3}(?:checks?|tests?|hooks?|gates?|changes?|issues?|feedback|fixes|push|commits?|build|ci)(?: \w+){0,2} (?:pass(?:es|ed|ing)?|pushed|committed|addressed|resolved|complete[d]?|succeed(?:s|ed)?|(?:is|are) (?:now )?(?:fixed|green|clean|done|passing|pushed|resolved))(?: (?:successfully|cleanly|now|locally))?\W*$/i,
  /^(?:(?:all|every) (?:\w+ ){0,3}(?:checks?|gates?|tests?|hooks?)\b[^:\d]{0,24}pass|(?:build|types?(?:script|check)?|lint\w*|quality|ci)\b[^:\d]{0,24}\b(?:pass(?:es|ing)?|succeeds?|clean|working|green)\b|(?:pushed|committed|verified|confirmed)\b[^:\d]{0,24}(?:successfully|quality))\D*$/i,
  /^https?:\/\/\S+$/i,
  /^(?:please )?(?:let me know|feel free|would you (?:like|prefer)|do you want|want me to|shall i|should i|if you(?:'d| would)? (?:like|want|prefer|need|have)|happy to|glad to|just (?:say|let|tell)|anything else|(?:i )?hope|please (?:review|let|test|try|check|confirm)|ready (?:to|for|when)\b)/i,
  /^(?:now,? )?(?:let me|let'?s|i'?ll|i will|i'?m going to|i am going to|i'?m (?:now )?(?:ready|excited|happy)|i need to|we need to|i should)\b/i,
  /^(?:here(?:'s| is| are)\b|this (?:is|was) (?:a |the )?summary|in summary\W*$|to summari[sz]e\W*$|see (?:above|below)|as (?:requested|mentioned)|for example|take a look|now i (?:have|can|see|understand)|looking at|based on (?:the|my|your))/i,
  /^(?:you'?re (?:not wrong|absolutely|completely|totally|right)|good (?:catch|question|point|idea|call)|great (?:question|point|idea|catch)|thank(?:s| you)|sorry|i apologi[sz]e|that'?s (?:it|all|right|correct|great|a (?:great|good|fair)))\b/i,
  /\b(?:working (?:tree|directory)(?: is)?(?: now)? clean|clean working (?:tree|directory)|nothing (?:more )?to commit|production[- ]ready|ready (?:for|to) (?:review|commit|merge|use|test(?:ing)?|go|push|be|ship|deploy\w*|ci)|everything (?:is |now )?(?:works?|working|set|up[- ]to[- ]date|in place)|all (?:set|done)|(?:task|work|job|port|everything|all) (?:is |has been )?(?:now )?(?:complete|completed|done|finished)\W*$|successfully (?:completed|done)\W*$)/i,
]

export function isChatter(text: string): boolean {
  if (CHATTER.some((pattern) => pattern.test(text))) return true
  // So does a sentence with such words, unless it names something.
  if (
    /\b(?:properly|completely|fully|successful(?:ly)?|cleanly|systematic\w*|perfectly|robust|comprehensive)\b/i.test(
      text,
    ) &&
    !isSpecific(text) &&
    !/\d|\bbecause\b/.test(text)
  )
    return true
  // An exclamation praises its own work, unless it has a number or says why.
  if (/!\W{0,3}$/.test(text) && !/\d{2}|\bbecause\b/.test(text)) return true
  return contentWords(text).length < MIN_CONTENT_WORDS && !isSpecific(text)
}

/** Fewer words that carry meaning are a heading or an exclamation. */
const MIN_CONTENT_WORDS = 3

const OPENING =
  /^(?:(?:great|perfect|excellent|awesome|wonderful|nice|neat|cool|better|working|done|success|sure|absolutely|exactly|yes|no|ok|okay|ah+|oh+|got it|thanks|thank you|fixed|updated|well|alright|all (?:set|done)|good (?:catch|point|question|idea)|you'?re (?:absolutely )?right|found (?:it|the issue)|(?:this|that) explains (?:it|everything))(?:[!.,:–—]| -)\s*)+/i

const STATUS =
  /^(?:(?:all|the|every|\d+) )?(?:\w+ ){0,2}(?:tests?|checks?|builds?|lint\w*|types?|format\w*|compil\w+|ci|suite)\b.{0,80}\b(?:pass(?:es|ed|ing)?|clean|green|succeed(?:s|ed)?|ok|fine)\b/i

/** It says only how the checks ended, not what was done. */
export function isStatus(text: string): boolean {
  return text.length < 140 && STATUS.test(text)
}

/** Without exclamations before the statement; empty if nothing is left. */
export function withoutOpening(sentence: string): string {
  const rest = sentence
    .replace(OPENING, '')
    .replace(/^(?:so|now|and|also|overall|finally|in short|basically),?\s+(?=\w)/i, '')
  return capitalized(rest.trim())
}

/** Names of programs, files and addresses keep their small letter. */
export function capitalized(text: string): string {
  return /^\p{Ll}[\p{L}'’]*(?:[\s,!?;]|[.:]\s|$)/u.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

const DEPENDENT =
  /^(?:this|that|these|those|it|they|he|she|its|their|which|both|either|neither|such|but|then|however|therefore|thus|hence|otherwise|instead|similarly|likewise|again|same|not (?:just|only)|or\b|the (?:former|latter|same|other|others|above|rest)\b|cela|ceci|ça|dies|das|esto?)(?:['’]\w+)?\b/i

/** It needs the sentence before it: "This fixes both." */
export function isDependent(text: string): boolean {
  if (DEPENDENT.test(text)) return true
  // In "kept because older clients read it" the sentence says itself what it means.
  return text.length < SHORT_SENTENCE_CHARS && /\b(?:this|that|it)\W*$/i.test(text) && !/\bbecause\b/i.test(text)
}

const SHORT_SENTENCE_CHARS = 60

const STOP_WORDS = new Set(
  wordList(`a about after all also an and any are as at be been both but by can could did do does done for from get go had has
  have here how i if in into is it its just let like made make me more my need new no not now of ok on one or our out
  please should so some sure than that the their them then there these they thing things this those to too up us use
  very want was we well were what when where which who why will with would yes you your yep right fine great good`),
)

/** Words that carry meaning; a CJK character counts as a word of its own. */
export function contentWords(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_][\p{L}\p{N}_'’-]*/gu) ?? []
  return words.filter((word) => !STOP_WORDS.has(word))
}

const SPECIFIC = /`[^`]+`|\d{2,}|\b\w{1,64}\.(?:[a-z]{1,5})\b|\b[a-z]{1,64}[A-Z]\w+|https?:\/\//

/** Names something that can be looked up: code, a file, a number, an address. */
export function isSpecific(text: string): boolean {
  return SPECIFIC.test(text)
}

const FINITE =
  /\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|can't|will|won't|must|should|isn't|doesn't|no longer|now|works?|runs?|fails?|pass(?:es)?|uses?|needs?|returns?|shows?|supports?|provides?|includes?|contains?|handles?|calls?|gives?|takes?|makes?|keeps?|reads?|writes?|sends?)\b/i
const PAST_START =
  /^(?:[A-Z]?\w{2,20}ed|made|built|wrote|kept|ran|set|found|put|got|split|cut|took|gave|brought|rebuilt|rewrote|chose|left|went|did|sent|read)\b/i

/** A list item that is a statement without its heading. Languages that the rules do not know are not judged. */
export function isStanding(item: string): boolean {
  if (/^`[^`]*`$/.test(item)) return false
  if (/^[^:]{2,60}: \S/.test(item)) return contentWords(item).length >= MIN_CONTENT_WORDS
  return FINITE.test(item) || PAST_START.test(item) || !looksEnglish(item)
}

function looksEnglish(text: string): boolean {
  return !/[^\p{ASCII}‘’“”–—…→←×]/u.test(text)
}

const CAUSE_WORDS =
  /\b(?:because|caused?|due to|therefore|so that|means|root|found|turn(?:s|ed) out|requires?|must|default|deprecated|instead|bug|fix(?:ed|es)?|leak|race|limit|never|only|breaks?)\b/i

/** Names in code, numbers, paths and causes are what one searches for later. */
export function sentenceWeight(sentence: string): number {
  const names =
    sentence.match(/`[^`]+`|\b[a-z]{1,64}[A-Z]\w+|\b[^\W_]{1,64}_\w+|\b\w{1,64}\(\)|(?<![\w-])[\w-]{1,128}\/[\w./-]+/g)
      ?.length ?? 0
  const numbers = sentence.match(/\d+(?:\.\d+)*/g)?.length ?? 0
  return Math.min(names, 4) * 2 + Math.min(numbers, 3) + (CAUSE_WORDS.test(sentence) ? 3 : 0)
}

/** The same for two statements that say the same: their words, without order, case and punctuation. */
export function fingerprintOf(statement: string): string {
  const words = [...new Set(contentWords(trimEndMatching(statement, /[.!\s]/)))].sort().join(' ')
  let hash = 0x811c9dc5
  for (let i = 0; i < words.length; i++) hash = Math.imul(hash ^ words.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}
