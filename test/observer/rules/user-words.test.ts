import { describe, expect, test } from 'vitest'
import {
  findAnswer,
  findUserChoices,
  isCorrection,
  requestOf,
  usersWords,
} from '../../../src/observer/rules/user-words.ts'

describe('user-words.choices', () => {
  test.each([
    'Use an LRU map instead of Redis, because we deploy a single process.',
    'No regex crate please: I want to stay without dependencies.',
    "We explicitly don't want hardcoded visual tests.",
    "I'd rather have one large file than ten small ones.",
    'Comments should link to a ticket or be inside docstrings.',
    'Never log the token, not even in debug builds.',
    'Keep Decimal everywhere instead of float, because floats never compare equal.',
  ])('"%s" is a choice', (sentence) => {
    expect(findUserChoices(sentence)).toEqual([sentence])
  })
  test.each([
    'Please fix the login page.',
    'Can you add a --dry-run flag to the importer?',
    "Let's commit this and open a pull request.",
    "Don't stop until all tests pass.",
    'Should we use Redis instead of a map?',
    'continue',
    'I am not sure if we want to keep the old endpoint.',
    'This session is being continued from a previous conversation. The user must not be asked again.',
  ])('"%s" is none', (sentence) => {
    expect(findUserChoices(sentence)).toEqual([])
  })
  test('a short choice is told with the sentence before it, a reason with the choice', () => {
    expect(findUserChoices('testing it on the host is hard while a person uses it. we do container-first.')).toEqual([
      'Testing it on the host is hard while a person uses it. We do container-first.',
    ])
    expect(findUserChoices("let's use podman instead of docker. it works the same way.")).toEqual([
      "Let's use podman instead of docker. It works the same way.",
    ])
  })
  test('what was pasted is not the user speaking', () => {
    expect(findUserChoices('pr feedback:\n\n1. You should never call `requireUser()` twice, always cache it.')).toEqual(
      [],
    )
    expect(usersWords('why does it fail?\nERROR: never call this twice\n$ make\n[+] Building 1.3s')).toBe(
      'why does it fail?',
    )
  })
})

describe('user-words.answers', () => {
  const asked = {
    question: 'Which one do you prefer?',
    options: ['Modifier key: hold Alt.', 'Dominant axis: the larger delta wins.'],
  }
  test.each(['2', 'option 2', 'ooh dominant axis sounds perfect'])('"%s" picks an option', (answer) => {
    expect(findAnswer(asked, answer)).toBe(
      `The user chose “Dominant axis: the larger delta wins” and said: “${answer}”.`,
    )
  })
  test('an agreement to alternatives is an answer, to an offer it is a permission', () => {
    const split = { question: 'Split them, or keep all together?', options: [] }
    expect(findAnswer(split, 'yes, split into a separate commit')).toContain('the user answered “yes, split into')
    expect(findAnswer({ question: 'Want me to commit it?', options: [] }, 'yes. Set up the PR')).toBeNull()
    expect(findAnswer(null, 'yes, both')).toBeNull()
  })
  test('a correction is one only where nothing was asked', () => {
    expect(isCorrection(null, 'uh. no. the CI runs on the current commit')).toBe(true)
    expect(isCorrection(asked, 'no, keep it')).toBe(false)
    expect(isCorrection(null, 'now add a test')).toBe(false)
  })
})

describe('user-words.request', () => {
  test('"ok" is told with the question it answers, alone it is nothing', () => {
    expect(requestOf('ok', null)).toBeNull()
    expect(requestOf('yes', { question: 'Shall I deploy to staging?', options: [] })).toBe(
      '“yes” to the question “Shall I deploy to staging?”',
    )
    expect(requestOf('[Request interrupted by user]', null)).toBeNull()
    expect(requestOf('fix the totals', null)).toBe('fix the totals')
  })
})
