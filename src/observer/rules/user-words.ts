/**
 * What the user says that stays true after the turn: choices, rules, requirements, corrections and answers. A request to do
 * something is none of these. Only the user's own words count: what was pasted into a prompt is somebody else's.
 */

import type { ObservationDraft } from '../../domain/observation.ts'
import { ownWords } from '../../domain/reported-speech.ts'
import { sentencesOfLine } from '../../domain/sentences.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { clipAtWord, joinWrappedLines, singleLine, stripControlCharacters, wordList } from '../tool-events/text.ts'
import type { AnsweredQuestion } from '../tool-events/tool-action.ts'
import { composeDraft } from './drafts.ts'
import type { OpenQuestion } from './memo.ts'
import { capitalized, contentWords, withoutOpening } from './statement-roles.ts'

/** Written by the client, not by the user. */
const CLIENT_TEXT =
  /^\s*(?:\[Request interrupted by user|This session is being continued from a previous conversation|Caveat: The messages below|<(?:command-name|local-command|bash-(?:input|stdout|stderr)|task-notification|system-reminder))/i
/** After this line somebody else speaks to the end of the prompt. */
const FOREIGN_REST =
  /^.{0,80}\b(?:feedback|review(?:er)?(?: comments?| feedback)?|comments?|report)\b[^.!?]{0,60}:\s*\S{0,80}.{0,80}$|^code review\b/i
/** People write little; a longer text is a paste. */
const MAX_OWN_CHARS = 2_400
const MAX_OWN_LINE_CHARS = 1_200

/** Null if there are none. */
export function usersWords(prompt: string | null): string | null {
  if (prompt === null || CLIENT_TEXT.test(prompt)) return null
  const kept: string[] = []
  let chars = 0
  const lines = stripControlCharacters(ownWords(prompt, 'prompt')).split('\n')
  const isLong = lines.length > MAX_TYPED_LINES
  for (const [i, line] of lines.entries()) {
    // The first line of a prompt with a paste is the user's.
    if (isLong && i > 0 && line.trim() !== '' && !isProse(line)) continue
    if (line.trim() !== '' && FOREIGN_REST.test(line.trim())) {
      kept.push(line.trim().slice(0, 160))
      break
    }
    if (isPasted(line)) continue
    chars += line.length
    if (chars > MAX_OWN_CHARS) break
    kept.push(line)
  }
  const words = joinWrappedLines(kept).join('\n').trim()
  return /[\p{L}\p{N}]/u.test(words) ? words : null
}

/** A prompt of more lines mostly contains a paste. */
const MAX_TYPED_LINES = 8
const FUNCTION_WORDS =
  /\b(?:the|a|an|is|are|was|i|we|you|it|that|this|to|of|in|on|for|and|but|not|do|can|le|la|les|de|des|et|est|je|nous|der|die|das|und|ist|ich|wir|el|los|que|y|es)\b/gi

/** Written by a person: a sentence, not the line of a log. */
function isProse(line: string): boolean {
  if (
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Cyrillic}]/u.test(
      line,
    )
  )
    return true
  return line.split(/\s+/).length >= 5 && (line.slice(0, 400).match(FUNCTION_WORDS)?.length ?? 0) >= 2
}

/** Output of a program: frames, progress bars, prompts of a shell, long lines. */
function isPasted(line: string): boolean {
  return /^\s*(?:[❯➜»$%#>=✔✖×│┃┌└├╭╰⏺⎿]|\[\+\]|=>|\d+(?:\.\d+)?s\b)/u.test(line) || line.length > MAX_OWN_LINE_CHARS
}

const QUESTION = /[?？]\W{0,3}$/
/** A statement with a question mark: "i think they should be the same?" */
const OPINION =
  /^(?:\w+[,.] )?(?:i (?:think|guess|feel|believe|kind of)|(?:it |that |\w+ \w+ )?(?:feels|looks|seems)|maybe we|we (?:should|want|need))\b/i
const CHOICE = [
  /^(?:please )?(?:use|keep|stay|stick|avoid|prefer|leave|limit|put|store)\b.{1,200}\b(?:because|since|so that|as (?:it|they|we)|otherwise)\b/i,
  /\b(?:instead of|rather than|in favou?r of|as opposed to)\b/i,
  /\b(?:i|we)(?:'d| would)? (?:rather|prefer)\b|\bprefer(?:s|red)?\b.{0,80}\b(?:over|to)\b/i,
  /\b(?:i|we) (?:really |explicitly |definitely |just )?(?:do not|don'?t|never) (?:want|need|use|like|care)\b/i,
  /\b(?:do not|don'?t|never|always|no longer|must(?: not|n'?t)?|should(?: not|n'?t| never| always| only)|(?:has|have|needs?|ought) to be|not allowed|only (?:if|when|use|the))\b/i,
  /\b(?:let'?s|lets|we(?:'ll| will)?|go(?:ing)?) (?:use|go with|stick (?:with|to)|stay with|keep|do|drop|skip|switch to|remove)\b/i,
  /\b(?:decided|chose|settled on|agreed|the (?:decision|rule|plan|goal|aim|idea) is)\b/i,
  /,? not [\w`'"-]+(?: [\w`'"-]+){0,6}\W*$|^[\w`'"-]+ not [\w`'"-]+[,;]/i,
  /\b(?:i|we) (?:\w+ )?(?:want|expect|would like) (?!you\b|to (?:see|know|look|check|talk|add|fix|import|make)\b)/i,
  /\b(?:i think|i bet|it should|it must|they should|should (?:be|say|show|link|live|go|use|stay|reference|have|look|work|come))\b/i,
  /\b(?:je (?:préfère|veux|ne veux)|il (?:faut|ne faut)|on (?:garde|utilise|va)|plutôt que|au lieu|ne .{1,40} pas|toujours|jamais|wir (?:nehmen|wollen)|statt|lieber|nicht|immer|en lugar|prefiero|nunca|siempre)\b|不要|应该|改用|必须|使用/i,
]
/** Asks for an action now: "can you …", "let's commit this". Not a choice, unless it names the alternative. */
const REQUEST =
  /^(?:please|can you|could you|would you|will you|ok(?:ay)?,? (?:now )?|now,? |next,? |then,? |also,? |and )?\s*(?:please |can you |could you )?(?:let'?s |lets )?(?:add|address|analy[sz]e|apply|build|change|check|clean|commit|continue|create|debug|delete|deploy|do (?:it|that|this|those)|explain|find|fix|get|give|go(?! with)|help|implement|improve|investigate|look|make|merge|move|open|prepare|push|put|read|rebase|refactor|remove|rename|research|review|rewrite|run|see|set up|show|start|talk|tell|test|think|try|update|write|work)\b/i
const ALTERNATIVE = /\b(?:instead of|rather than|not|never|always|only|don'?t|do not|because|prefer)\b/i
const MIN_CONTENT_WORDS = 4
const MAX_DECISIONS = 5
const MAX_DECISION_CHARS = 360

/** The sentences of a prompt that are choices, rules or requirements. */
export function findUserChoices(prompt: string | null): string[] {
  const words = usersWords(prompt)
  if (words === null) return []
  const choices: string[] = []
  let continues = false
  let before = ''
  for (const sentence of words.split('\n').flatMap(sentencesOfUser)) {
    const reason = continues && /^(?:because|since|otherwise|so that|it |that |this |they )/i.test(sentence)
    const last = choices.at(-1)
    if (reason && last !== undefined && !QUESTION.test(sentence)) {
      choices[choices.length - 1] = clipAtWord(`${last} ${asSentence(sentence)}`, MAX_DECISION_CHARS)
    } else {
      const isShort = contentWords(sentence).length < MIN_CONTENT_WORDS
      // "We do it container-first." is understood with the sentence before it.
      const text = isShort && before !== '' ? `${asSentence(before)} ${asSentence(sentence)}` : asSentence(sentence)
      continues = isChoice(sentence, isShort ? before : '')
      if (continues) choices.push(clipAtWord(text, MAX_DECISION_CHARS))
    }
    before = QUESTION.test(sentence) ? '' : sentence
  }
  return choices.slice(0, MAX_DECISIONS)
}

/** People end sentences with a stop and go on in lower case. */
function sentencesOfUser(line: string): string[] {
  return sentencesOfLine(line.replace(/^\s*(?:[-*•]|\d{1,2}[.)])\s+/, '')).flatMap((sentence) =>
    sentence.split(/(?<=\w{2}[.!?])\s+(?=[a-z])/),
  )
}

const UNSURE =
  /\b(?:(?:do not|don'?t) (?:stop|forget|worry|hesitate)|(?:do not|don'?t) know|not sure|no idea|wonder(?:ing)?|(?:when|if|whether|what|how) (?:i|we|you) (?:want|need))\b/i

/** A longer sentence is a specification, or pasted. */
const MAX_SENTENCE_CHARS = 300

/** `before` is the sentence that explains a short one. */
function isChoice(sentence: string, before: string): boolean {
  if (UNSURE.test(sentence) || sentence.length > MAX_SENTENCE_CHARS) return false
  if (contentWords(`${before} ${sentence}`).length < MIN_CONTENT_WORDS || contentWords(sentence).length === 0)
    return false
  if (QUESTION.test(sentence) && !OPINION.test(sentence)) return false
  if (!CHOICE.some((pattern) => pattern.test(sentence))) return false
  return !REQUEST.test(sentence) || ALTERNATIVE.test(sentence)
}

const FILLER =
  /^(?:(?:(?:so|and|but|also|oh|ah+|um+|hm+|ok(?:ay)?|well|now|then|because|actually|remember(?: that)?)[,.!]?|(?:no|yes)[,.!])\s+)+/i

function asSentence(sentence: string): string {
  const text = trimEndMatching(withoutOpening(sentence.trim().replace(FILLER, '')), /[\s,;:–—-]/)
  return capitalized(/[.!?…。！？]$/.test(text) ? text : `${text}.`)
}

/** What is wrong, in the user's view: no choice. */
const FINDING = /\b(?:the|an?|your) (?:\w+ )?(?:issue|problem|bug|cause|reason|culprit|error)\b/i

/** The answer is the title, not the question. */
const ANSWERED = /^(?:The user chose|Asked “[^”]{1,240}”, the user answered) “([^”]{1,300})/

export function composeChoices(choices: readonly string[], sources: readonly string[]): ObservationDraft[] {
  return choices.map((choice) =>
    composeDraft({
      type: FINDING.test(choice) ? 'discovery' : 'decision',
      title: ANSWERED.exec(choice)?.[1] ?? choice,
      statements: [choice],
      subtitle: 'The user said so',
      concepts: ['trade-off'],
      sources,
      saidBy: 'person',
    }),
  )
}

export function composeAnswers(answers: readonly AnsweredQuestion[], sources: readonly string[]): ObservationDraft[] {
  return answers.map(({ question, answer, others }) => {
    const rejected = others.length === 0 ? '' : `, not ${others.map((other) => `“${other}”`).join(' or ')}`
    return composeDraft({
      type: 'decision',
      title: `${trimEndMatching(question, /[?\s]/)}: ${answer}`,
      statements: [`Asked “${question}”, the user chose “${answer}”${rejected}.`],
      subtitle: 'The user answered a question',
      concepts: ['trade-off'],
      sources,
      saidBy: 'person',
    })
  })
}

export function composeRefusal(tool: string, subject: string, reason: string, source: string): ObservationDraft | null {
  if (contentWords(reason).length < 2) return null
  const what = subject === '' ? `a use of ${tool}` : `${tool} on \`${clipAtWord(subject, 80)}\``
  return composeDraft({
    type: 'decision',
    title: reason,
    statements: [`The user refused ${what} and said: “${trimEndMatching(reason, /\s/)}”.`],
    subtitle: 'The user refused it',
    concepts: ['trade-off'],
    sources: [source],
    saidBy: 'person',
  })
}

const AGREEMENT =
  /^(?:yes|yep|yeah|ok|okay|sure|please|do (?:it|that|so)|go(?: ahead| for it)?|sounds good|perfect|great|good|fine|continue|proceed|both|agreed|right|correct|no|nope|oui|d'accord|ja|sí|si|好|好的|是)\b/i
const PICK =
  /^(?:(?:let'?s|lets|i'?d|we) )?(?:option|choose|take|pick|go with|do|number|#)?\s{0,3}#?\(?([1-9a-e])\)?(?:[\s.,!]|$)/i
const MAX_ANSWER_CHARS = 240

/** What the user answered to the question with which the agent ended the turn before; null if it is no answer. */
export function findAnswer(asked: OpenQuestion | null, prompt: string | null): string | null {
  const words = usersWords(prompt)
  if (asked === null || words === null) return null
  const sentences = words.split('\n').flatMap(sentencesOfUser)
  // A single letter or number is no sentence.
  const answer = sentences.length === 0 ? words : sentences.filter((sentence) => !QUESTION.test(sentence)).join(' ')
  if (answer === '' || answer.length > MAX_ANSWER_CHARS) return null
  const option = chosenOption(asked.options, answer)
  const said = singleLine(answer, MAX_ANSWER_CHARS)
  if (option !== null) return `The user chose “${trimEndMatching(option, /[.\s]/)}” and said: “${said}”.`
  // "Yes" to an offer is a permission; to a question with alternatives it is a choice.
  const isChoiceOf = /\bor\b|\bou\b|\boder\b|还是/i.test(asked.question) || ALTERNATIVE.test(answer)
  const isAnswer = isChoiceOf && AGREEMENT.test(answer) && contentWords(answer).length >= 2
  return isAnswer ? `Asked “${clipAtWord(asked.question, 200)}”, the user answered “${said}”.` : null
}

/** An answer of more words is a statement of its own. */
const MAX_PICK_WORDS = 8
const PICKED_SHARE = 0.5

/** `A)`, `(B)`, `Option C:` at the beginning of an option. */
const OPTION_LABEL = /^(?:option\s{1,3})?[([]?([a-e])[)\].:]/i

function chosenOption(options: readonly string[], answer: string): string | null {
  const sign = PICK.exec(answer)?.[1]?.toLowerCase()
  if (sign !== undefined && answer.length <= 24) {
    if (/\d/.test(sign)) return options[Number(sign) - 1] ?? null
    // Lists have numbers; a letter means an option only where that is labelled so.
    return options.find((option) => OPTION_LABEL.exec(option)?.[1]?.toLowerCase() === sign) ?? null
  }
  const words = contentWords(answer).filter((word) => word.length >= 4)
  if (words.length > MAX_PICK_WORDS) return null
  const rated = options
    .map((option) => {
      const own = new Set(contentWords(option))
      return { option, shared: words.filter((word) => own.has(word)).length }
    })
    .sort((a, b) => b.shared - a.shared)
  const [best, second] = rated
  if (best === undefined || best.shared < 2 || best.shared < words.length * PICKED_SHARE) return null
  return best.shared === second?.shared ? null : best.option
}

const CORRECTION =
  /^(?:(?:ok(?:ay)?|uh+|um+|hm+|ah+|well|sorry)[.,!]*\s+)*(?:no\b|nope|wrong|that'?s (?:not|wrong)|(?:it|this) (?:is not|isn'?t)|not (?:quite|really|true)|non\b|nein\b|不对|不是)/i

/** Whether the user says that what the agent said last is wrong. "No" to a question is an answer. */
export function isCorrection(asked: OpenQuestion | null, prompt: string | null): boolean {
  const words = usersWords(prompt)
  return asked === null && words !== null && CORRECTION.test(words)
}

/** Words with which a user only lets the agent go on. */
const GO_ON = new Set(
  wordList(
    'continue ok okay yes yep y go on ahead proceed sure please do it that this now then great good fine thanks both next',
  ),
)
const MAX_REQUEST_CHARS = 280

/** What the user wanted, in his own words. To "ok" the question that it answers is added; without one there is nothing to tell. */
export function requestOf(prompt: string | null, asked: OpenQuestion | null): string | null {
  const words = usersWords(prompt)
  if (words === null) return null
  const line = singleLine(words, MAX_REQUEST_CHARS)
  const isGoOn = (line.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => GO_ON.has(word))
  if (!isGoOn) return line
  return asked === null ? null : clipAtWord(`“${line}” to the question “${asked.question}”`, MAX_REQUEST_CHARS)
}
