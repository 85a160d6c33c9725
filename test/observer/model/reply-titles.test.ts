import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseReply } from '../../../src/observer/model/reply/index.ts'
import { MAX_TITLE_WORDS, tidyTitle } from '../../../src/observer/title-format.ts'

interface Heading {
  title: string
  subtitle?: string
  narrative?: string
}

function parsed({ title, subtitle, narrative }: Heading) {
  const parts = [
    `<type>bugfix</type><title>${title}</title>`,
    subtitle === undefined ? '' : `<subtitle>${subtitle}</subtitle>`,
    narrative === undefined ? '' : `<narrative>${narrative}</narrative>`,
  ]
  const [observation] = parseReply(`<observation from="1">${parts.join('\n')}</observation>`).observations
  return { title: observation?.title, subtitle: observation?.subtitle, narrative: observation?.narrative }
}

describe('titles of a reply', () => {
  it.each([
    ['Fix refresh tokens rejected right after login.', 'Fix refresh tokens rejected right after login'],
    ['Fix refresh tokens rejected right after login', 'Fix refresh tokens rejected right after login'],
    ['カートの合計を修正した。', 'カートの合計を修正した'],
    ['Does the cart round twice?', 'Does the cart round twice?'],
    ['Upgrade Node to 20.11', 'Upgrade Node to 20.11'],
  ])('%s', (given, title) => expect(parsed({ title: given, subtitle: 's', narrative: 'n' }).title).toBe(title))

  const long =
    'Fixed the rounding of cart totals in src/cart.ts, because parseFloat was used where integer cents were expected by the tax module.'

  it('is cut at the end of a clause, and the rest is the subtitle where there is none', () => {
    const { title, subtitle } = parsed({ title: long, narrative: 'The totals were wrong.' })
    expect(title).toBe('Fixed the rounding of cart totals in src/cart.ts')
    expect(subtitle).toBe(long)
  })

  it('is cut after twelve words without a clause, and never ends with a word that announces more', () => {
    const given = 'Move the session store of the daemon from a single JSON file to the SQLite database with migrations'
    const { title } = parsed({ title: given, subtitle: 's' })
    expect(title).toBe('Move the session store of the daemon from a single JSON file')
    expect(title?.split(' ').length).toBeLessThanOrEqual(MAX_TITLE_WORDS)
  })

  it('loses nothing: the whole sentence goes into the narrative if there is a subtitle', () => {
    const { title, subtitle, narrative } = parsed({
      title: long,
      subtitle: 'Totals are right.',
      narrative: 'It was wrong.',
    })
    expect(title).toBe('Fixed the rounding of cart totals in src/cart.ts')
    expect(subtitle).toBe('Totals are right.')
    expect(narrative).toBe(`${long}\n\nIt was wrong.`)
  })

  it('is not told twice where the narrative has it', () => {
    const narrative = `Today: ${long}`
    expect(parsed({ title: long, subtitle: 's', narrative }).narrative).toBe(narrative)
  })

  it('is tidied once for all, whatever it is', () => {
    const word = fc.constantFrom(
      'a',
      'the',
      'cart,',
      '.',
      '..',
      '…',
      'x.',
      '—',
      '(y)',
      'because',
      'to',
      '1.',
      '-',
      '。',
    )
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
        const title = tidyTitle(words.join(' '))
        expect(tidyTitle(title)).toBe(title)
        expect(title).not.toBe('')
        expect(title.split(' ').length).toBeLessThanOrEqual(MAX_TITLE_WORDS)
      }),
    )
  })

  it('keeps a paragraph that a model wrote as its title', () => {
    const words = Array.from({ length: 120 }, (_, i) => `word${i}`).join(' ')
    const { title, narrative } = parsed({ title: words })
    expect(title?.split(' ').length).toBe(MAX_TITLE_WORDS)
    expect(narrative).toContain('word119')
  })
})
