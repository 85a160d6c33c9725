/** The identity that a repository claims with its remote. */
import { describe, expect, it } from 'vitest'
import { projectKeyOrName } from '../../src/domain/project.ts'
import {
  claimedRepository,
  namedProjectKey,
  remotesInConfig,
  repositoryKeyOf,
  travellingIdentity,
  travellingName,
} from '../../src/domain/repository.ts'
import { isTravellingKey } from '../../src/domain/team-record.ts'
import { expectLinearTime } from '../support/linear-time.ts'

const SHOP = 'repo:github.com/acme/shop'

describe('repositoryKeyOf', () => {
  it.each([
    'https://github.com/acme/shop',
    'https://github.com/acme/shop.git',
    'https://github.com/acme/shop.git/',
    'https://github.com//acme/shop//',
    'http://github.com/acme/shop',
    'https://GitHub.COM/acme/shop.git',
    'https://github.com./acme/shop',
    'https://me@github.com/acme/shop.git',
    'https://me:password@github.com:443/acme/shop.git',
    'ssh://git@github.com/acme/shop.git',
    'ssh://git@github.com:22/acme/shop',
    'SSH://git@ssh.github.com:443/acme/shop.git',
    'git+ssh://git@github.com/acme/shop.git',
    'git://github.com/acme/shop.git',
    'git@github.com:acme/shop.git',
    'git@github.com:/acme/shop.git',
    'github.com:acme/shop',
    '  git@github.com:acme/shop.git\n',
    'https://github.com/acme/shop.git?token=abc#part',
  ])('is one for %j', (address) => {
    expect(repositoryKeyOf(address)).toBe(SHOP)
  })

  it.each([
    ['https://github.com/Acme/Shop', 'repo:github.com/Acme/Shop'],
    ['git@gitlab.example.org:group/sub/shop.git', 'repo:gitlab.example.org/group/sub/shop'],
    ['ssh://git@host:7999/~me/shop.git', 'repo:host/~me/shop'],
    ['git@[2001:db8::1]:acme/shop.git', 'repo:[2001:db8::1]/acme/shop'],
    ['https://[2001:DB8::1]:8443/acme/shop', 'repo:[2001:db8::1]/acme/shop'],
    ['https://bücher.example/shop', 'repo:xn--bcher-kva.example/shop'],
    ['host:shop/.git', 'repo:host/shop'],
    ['https://dev.azure.com/acme/My%20Work/_git/shop', 'repo:dev.azure.com/acme/My%20Work/_git/shop'],
    ['git@altssh.gitlab.com:acme/shop', 'repo:gitlab.com/acme/shop'],
  ])('of %j is %j', (address, key) => {
    expect(repositoryKeyOf(address)).toBe(key)
  })

  it.each([
    '',
    '/srv/git/shop.git',
    './shop',
    '../shop.git',
    '~/shop',
    'shop',
    'C:\\work\\shop',
    'C:/work/shop',
    'c:shop',
    '\\\\server\\share\\shop',
    'file:///srv/git/shop.git',
    'file://server/shop.git',
    'ext::sh -c evil',
    'codecommit::eu-west-1://shop',
    'https://localhost/acme/shop',
    'http://127.0.0.1:3000/acme/shop.git',
    'git@sub.localhost:acme/shop',
    'https://[::1]/acme/shop',
    'https://github.com',
    'https://github.com/',
    'https://github.com/.git',
    'https://github.com/acme/../other/shop',
    'https:///acme/shop',
    'https://github.com:port/acme/shop',
    'https://git hub.com/acme/shop',
    'git@github.com:acme\\shop',
    'https://github.com/acme/shop\u0000.git',
    'https://github.com/acme/\u001b[2Jshop',
    'https://github.com/acme/\u202eshop',
    `https://github.com/${'a'.repeat(2_000)}`,
  ])('is none for %j', (address) => {
    expect(repositoryKeyOf(address)).toBeNull()
  })

  it('never has credentials in it, wherever they are in the address', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    for (const address of [
      `https://${token}@github.com/acme/shop.git`,
      `https://me:${token}@github.com/acme/shop.git`,
      `https://me:a/${token}@github.com/acme/shop.git`,
      `https://x@${token}@github.com/acme/shop.git`,
      `https://github.com/${token}/shop.git`,
      `https://github.com/acme/shop?access_token=${token}`,
      `me:${token}@github.com:acme/shop`,
      `me:${token}@github.com/acme/shop`,
      `${token}@github.com:acme/shop.git`,
      `https://me:pa@ss${token}@github.com/acme/shop`,
    ]) {
      expect(repositoryKeyOf(address) ?? '', address).not.toContain(token)
    }
    expect(repositoryKeyOf('user:password@host/shop')).toBeNull()
  })

  it('is a key like any other', () => {
    expect(isTravellingKey(SHOP)).toBe(true)
    expect(projectKeyOrName(SHOP, '/anywhere')).toBe(SHOP)
    expect(projectKeyOrName('named:notes', '/anywhere')).toBe('named:notes')
    expect([travellingName(SHOP), travellingIdentity(SHOP)]).toEqual(['shop', 'github.com/acme/shop'])
    expect(travellingName(namedProjectKey('My notes'))).toBe('My notes')
    expect([travellingName('git:/home/me/shop/.git'), travellingIdentity('repo:')]).toEqual([null, null])
  })
})

describe('claimedRepository', () => {
  const config = (...lines: string[]) => claimedRepository(lines.join('\n'))

  it('is of origin, whatever comes before it', () => {
    expect(
      config(
        '[core]',
        '\trepositoryformatversion = 0',
        '[remote "fork"]',
        '\turl = git@github.com:me/shop.git',
        '[remote "origin"]',
        '\turl = https://github.com/acme/shop.git',
        '\tfetch = +refs/heads/*:refs/remotes/origin/*',
        '[branch "main"]',
        '\tremote = origin',
        '\turl = https://elsewhere.example/x',
      ),
    ).toBe(SHOP)
  })

  it('is of the only remote, and of none where there are several', () => {
    const fork = ['[remote "fork"]', 'url = git@github.com:acme/shop.git']
    expect(config(...fork)).toBe(SHOP)
    expect(config(...fork, '[remote "other"]', 'url = git@github.com:me/shop')).toBeNull()
    expect(config('[core]', 'bare = false')).toBeNull()
    expect(config('')).toBeNull()
  })

  it('reads values as git does', () => {
    expect(config('[remote "origin"] url = https://github.com/acme/shop')).toBe(SHOP)
    expect(config('[REMOTE "origin"]', '  URL="https://github.com/acme/shop.git" ; the shop')).toBe(SHOP)
    expect(config('[remote "origin"]\r', 'url = https://github.com/acme/shop # comment\r', '')).toBe(SHOP)
    expect(config('[remote "origin"]', 'url = https://github.com/\\', 'acme/shop')).toBe(SHOP)
    expect(
      config('# url = x', '[remote "origin"]', '; url = https://evil.example/x', 'url = github.com:acme/shop'),
    ).toBe(SHOP)
    expect(remotesInConfig('[remote "a \\"b\\""]\nurl = host:x')).toEqual(new Map([['a "b"', 'host:x']]))
    expect(config('[remote "origin"]', 'pushurl = https://github.com/acme/shop')).toBeNull()
    // The first address is the one that git fetches from.
    expect(config('[remote "origin"]', 'url = github.com:acme/shop', 'url = github.com:me/shop')).toBe(SHOP)
  })

  it('does not follow included files, and rewrites no address', () => {
    expect(config('[include]', 'path = ../evil', '[remote "origin"]', 'url = github.com:acme/shop')).toBe(SHOP)
    expect(config('[url "git@github.com:"]', 'insteadOf = gh:', '[remote "origin"]', 'url = gh:acme/shop')).toBe(
      'repo:gh/acme/shop',
    )
  })

  it('reads a hostile text in linear time', () => {
    for (const text of [
      '[remote "',
      '[remote "origin"]\nurl = \\\n',
      '[remote "x"]\n',
      'url = "\\"',
      '[[[[',
      '\\',
      ' \t',
      'a\\\\\\',
      '[remote "o"] url = a\n',
    ]) {
      expectLinearTime((size) => claimedRepository(text.repeat(size / text.length)), 60_000, JSON.stringify(text))
    }
    expectLinearTime((size) => claimedRepository(`[remote "origin"]\nurl = ${' '.repeat(size)}x`), 60_000)
  })
})
