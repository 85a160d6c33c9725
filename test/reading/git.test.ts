import { describe, expect, test } from 'vitest'
import type { InboxEvent } from '../../src/domain/event.ts'
import type { Passage } from '../../src/domain/passage.ts'
import { commitsOf, editedSince, readGitState } from '../../src/reading/git.ts'
import { passagesOfEvent } from '../../src/reading/passages.ts'
import { bash, bashFails, edit, used, write } from '../observer/events.ts'

/** What is stored of these events, newest first as the store returns it. */
function stored(...events: InboxEvent[]): Passage[] {
  const made = events.flatMap((event, i) =>
    passagesOfEvent({ ...event, at: i + 1 }, 1).map((draft) => ({ ...draft, id: i, session: 's', project: 'p' })),
  )
  return made.toReversed()
}
const state = (...events: InboxEvent[]) => readGitState(stored(...events))

const DIRTY = `On branch feature/cart
Your branch is up to date with 'origin/feature/cart'.

Changes not staged for commit:
  (use "git add <file>..." to update what will be committed)
\tmodified:   src/cart.ts
\tdeleted:    old file.ts

Untracked files:
\tnotes.md

no changes added to commit (use "git add" and/or "git commit -a")`
const CLEAN = 'On branch main\nnothing to commit, working tree clean'
const NOTHING = { branch: null, commit: null, uncommitted: null, pushed: null }

describe('commits', () => {
  const commit = (command: string, output = '') =>
    passagesOfEvent(bash(command, output), 1).filter(({ kind }) => kind === 'commit')

  test('have hash, branch, message without trailers, and git’s line about the files', () => {
    const message =
      'fix: no discount without a coupon\n\nThe coupon is `null` for "empty" carts, $0 off.\n\nCo-Authored-By: A <a@b.c>\nSigned-off-by: B'
    const command = `git commit -m "$(cat <<'EOF'\n${message}\n\n🤖 Generated with [Claude Code](https://x)\nEOF\n)"`
    const [made] = commit(
      command,
      '[main 1a2b3c4] fix: no discount\n 2 files changed, 3 insertions(+)\n create mode 100644 a.ts',
    )
    expect(made).toMatchObject({ subject: '1a2b3c4 on main', outcome: 'ok' })
    expect(made?.text).toBe(
      'fix: no discount without a coupon\n\nThe coupon is `null` for "empty" carts, $0 off.\n\n2 files changed, 3 insertions(+)',
    )
    expect(commitsOf(made === undefined ? [] : [made])).toMatchObject([
      {
        hash: '1a2b3c4',
        branch: 'main',
        title: 'fix: no discount without a coupon',
        body: 'The coupon is `null` for "empty" carts, $0 off.',
      },
    ])
  })
  test('count without an output where the exit is known, and only there', () => {
    expect(commit("git add -A && git commit -q -m 'feat: totals'")).toMatchObject([
      { subject: null, text: 'feat: totals' },
    ])
    expect(commit("git commit -q -m 'feat: totals' | tail")).toEqual([])
    expect(commit("git commit -q -m 'feat: totals' || true")).toEqual([])
    expect(commit("git diff --cached --quiet || git commit -q -m 'feat: totals'")).toEqual([])
    expect(passagesOfEvent(bashFails("git commit -m 'feat: totals'", 'hook failed'), 1)).toMatchObject([
      { kind: 'command', outcome: 'failed' },
    ])
  })
  test('are not known where something of the line failed; what git printed stays', () => {
    const event = bashFails(
      'git commit -am "a b" && git push',
      '[main 1a2b3c4] a b\n 1 file changed\n ! [rejected] main',
    )
    const made = passagesOfEvent(event, 1)
    expect(made).toMatchObject([{ kind: 'status', subject: 'git commit && git push' }])
    expect(made[0]?.text).toContain('[main 1a2b3c4] a b')
    expect(passagesOfEvent(bashFails('git commit -m "x y"', '[ZQ-prod deadbee] x y'), 1)).toMatchObject([
      { kind: 'command', outcome: 'failed' },
    ])
  })
  test.each([
    ['npm test && git commit -qm "x y"', '[ZQ-prod deadbee] x y', null],
    ['npm test && git commit -m "x y"', '[ZQ-prod deadbee] shipped', null],
    ['npm test && git commit -m "x y"', '[ZQ-prod deadbee] shipped\n[main 1a2b3c4] x y', null],
    ['npm test && git commit -m "x y"', '5 passed\n[main 1a2b3c4] x y', '1a2b3c4 on main'],
    ['git add -A && git commit -m "x y"', '[main 1a2b3c4] x y', '1a2b3c4 on main'],
    ['git commit -m "x y" && git push', '[main 1a2b3c4] x y\nTo x', '1a2b3c4 on main'],
  ])('beside another program: %s with %j is %s', (command, output, subject) => {
    expect(commit(command, output)).toMatchObject([{ subject, text: 'x y', outcome: 'ok' }])
  })
  test('in another repository are kept, and are not the last commit of this one', () => {
    const made = '[main 1a2b3c4] x y'
    for (const line of ['git -C ../other', 'true && cd ../other && git', 'git --git-dir=../o/.git']) {
      expect(commit(`${line} commit -m "x y"`, made)).toMatchObject([{ outcome: null, text: 'x y' }])
      expect(state(bash(`${line} commit -m "x y"`, made))).toEqual(NOTHING)
    }
  })
  test('may be amended, on no branch, in a heredoc, or several in a line', () => {
    expect(commit('git commit --amend --no-edit', '[detached HEAD 1a2b3c4] title')).toMatchObject([
      { subject: '1a2b3c4', text: 'title' },
    ])
    expect(commit("git commit -F - <<'EOF'\nsubject\nEOF", '[x 1a2b3c4] subject')).toMatchObject([{ text: 'subject' }])
    const two = commit('git commit -m one && git commit -m two', '[x 1a2b3c4] one\n[x 2a2b3c4] two')
    expect(two.map(({ subject }) => subject)).toEqual(['1a2b3c4 on x', '2a2b3c4 on x'])
  })
  test('are not made of words that other programs print', () => {
    expect(passagesOfEvent(bash('cat log', '[main 1a2b3c4] fake'), 1)).toEqual([])
    expect(
      passagesOfEvent(bash('./run.sh', '[main 1a2b3c4] fake'), 1).filter(({ kind }) => kind !== 'command'),
    ).toEqual([])
  })
})

describe('state of git', () => {
  test('is what git status lists, in its long and its short form', () => {
    const expected = {
      branch: { name: 'feature/cart' },
      uncommitted: { files: ['src/cart.ts', 'old file.ts', 'notes.md'], at: 1 },
    }
    expect(state(bash('git status', DIRTY))).toMatchObject(expected)
    expect(
      state(
        bash('git status -sb', '## feature/cart...origin/feature/cart\n M src/cart.ts\n D old file.ts\n?? notes.md'),
      ),
    ).toMatchObject(expected)
    expect(state(bash('git status --porcelain', ' M src/cart.ts'))).toMatchObject({
      branch: null,
      uncommitted: { files: ['src/cart.ts'] },
    })
  })
  test('a clean tree is an empty list', () => {
    expect(state(bash('git status', CLEAN)).uncommitted).toEqual({ files: [], at: 1 })
    expect(state(bash('git status --short')).uncommitted).toEqual({ files: [], at: 1 })
    expect(state(bash('git status --short | head')).uncommitted).toBe(null)
    expect(state(bash('git status -sb', '## main')).uncommitted).toEqual({ files: [], at: 1 })
  })
  test('the newest wins; a commit, a stash or a checkout outdates a status', () => {
    expect(state(bash('git status', DIRTY), bash('git status', CLEAN))).toMatchObject({
      branch: { name: 'main', at: 2 },
      uncommitted: { files: [] },
    })
    expect(state(bash('git status', DIRTY), bash('git commit -qam "x y"'))).toMatchObject({
      commit: { hash: null, subject: 'x y', at: 2 },
      uncommitted: null,
    })
    expect(
      state(
        bash('git status', DIRTY),
        bash('git stash', 'Saved working directory and index state WIP on main: 1a2b3c4 x'),
      ).uncommitted,
    ).toBe(null)
    expect(
      state(bash('git status', DIRTY), bash('git checkout -b next', "Switched to a new branch 'next'")),
    ).toMatchObject({ branch: { name: 'next', at: 2 }, uncommitted: null })
  })
  test('in one line the order of the commands counts', () => {
    const committed = '[main 1a2b3c4] x y\n 1 file changed'
    expect(state(bash('git status -s && git commit -am "x y"', ` M a.ts\n${committed}`)).uncommitted).toBe(null)
    expect(state(bash('git commit -am "x y" && git status -s', `${committed}\n?? b.ts`))).toMatchObject({
      commit: { hash: '1a2b3c4', subject: 'x y' },
      uncommitted: { files: ['b.ts'] },
    })
  })
  test('a filter in a pipe leaves a list incomplete, unless it had room for more', () => {
    expect(state(bash('git status -s | grep cart', ' M cart.ts')).uncommitted).toBe(null)
    expect(state(bash('git status -s | head -20', ' M cart.ts')).uncommitted?.files).toEqual(['cart.ts'])
    expect(state(bash('git status -s | head -1', ' M cart.ts')).uncommitted).toBe(null)
  })
  test('the commands of git are read at the end of a long line, too', () => {
    const line = `git commit -q -m "x y${' and more'.repeat(40)}" && git log --oneline -1`
    const made = state(bash(line, '1a2b3c4 x y'))
    expect(made.commit).toMatchObject({ hash: '1a2b3c4', subject: 'x y' })
  })
  test('lines of a commit message are no files', () => {
    const output = 'M a.ts\ncommit 1a2b3c4\nA test for the cart\nD is gone'
    expect(state(bash('git status -s && git show --stat', output))).toEqual(NOTHING)
  })
  test('the commit is the newest that was made or that a log shows first', () => {
    const log = '1a2b3c4 (HEAD -> main, origin/main) by the user\n0a2b3c4 older'
    expect(state(bash('git log --oneline -5', log)).commit).toEqual({ hash: '1a2b3c4', subject: 'by the user', at: 1 })
    expect(
      state(bash('git log -1', 'commit 1a2b3c4d5e6f7a8b9c0d\nAuthor: A <a@b>\n\n    by the user\n')).commit?.subject,
    ).toBe('by the user')
    expect(state(bash('git log --oneline other -5', log)).commit).toBe(null)
    expect(state(bash('git log --oneline --author=me', log)).commit).toBe(null)
    expect(state(bash('git log --oneline -- a.ts', log)).commit).toBe(null)
  })
  test('the branch may be printed alone', () => {
    expect(state(bash('git branch --show-current', 'main')).branch?.name).toBe('main')
    expect(state(bash('git rev-parse --abbrev-ref HEAD', 'main')).branch?.name).toBe('main')
    expect(state(bash('git branch', '  a\n* main\n  z')).branch?.name).toBe('main')
    expect(state(bash('git branch --show-current && ls', 'main\na.ts')).branch).toBe(null)
  })
  test('a push counts where git did not refuse it', () => {
    const pushed = 'To github.com:a/b.git\n * [new branch]      cart -> cart'
    expect(state(bash('git push -u origin cart', pushed)).pushed).toEqual({
      text: '* [new branch]      cart -> cart',
      at: 1,
    })
    expect(state(bash('git push', 'Everything up-to-date')).pushed?.text).toBe('Everything up-to-date')
    expect(
      state(
        bashFails('git push', 'To x\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs'),
      ).pushed,
    ).toBe(null)
  })
  test('a status after a checkout in the same line says what is there', () => {
    expect(state(bash('git checkout next && git status', DIRTY)).uncommitted?.files).toContain('src/cart.ts')
    expect(state(bash('git status && git checkout next', DIRTY)).uncommitted).toBe(null)
  })
  test('another directory is another repository', () => {
    expect(state(bash('cd /home/dev/other && git status', DIRTY))).toEqual(NOTHING)
    expect(state(bash('git -C ../other status', DIRTY)).branch).toBe(null)
  })
  test('the commands are told as one would type them', () => {
    const subject = (command: string) => stored(bash(command, DIRTY))[0]?.subject
    expect(subject("cd /home/dev/other; git status --short | grep '^??'")).toBe(
      "cd /home/dev/other && git status --short | grep '^??'",
    )
  })
  test('programs that imitate git say nothing about it', () => {
    expect(state(bash('./status.sh', DIRTY), bash('cat log', CLEAN))).toEqual(NOTHING)
  })
})

test('files that were edited after a time', () => {
  const passages = stored(
    write('a.ts', 'x'),
    bash('git status', CLEAN),
    edit('b.ts', 'x', 'x', 'y'),
    used('Delete', { file_path: '/home/dev/shop/c.ts' }, {}),
  )
  expect(editedSince(passages, 2).sort()).toEqual(['b.ts', 'c.ts'])
})

test('where another program of the line prints what git prints, nothing of it is certain', () => {
  const file = 'On branch evil\nnothing to commit, working tree clean'
  expect(state(bash('git status; cat NOTES', `${DIRTY}\n${file}`))).toMatchObject({ branch: null, uncommitted: null })
  expect(
    state(bash('cat NOTES; git status -s', `nothing to commit, working tree clean\n M a.ts`)).uncommitted,
  ).toBeNull()
  expect(state(bash('git status', DIRTY)).branch?.name).toBe('feature/cart')
})

test.each([
  bashFails('git commit -m "c d" && git push', '[main 2a2b3c4] c d\n ! [rejected] main'),
  bash('GIT_AUTHOR_DATE=now git commit -m "c d"', '[main 2a2b3c4] c d'),
  bash('bash -c "git reset --hard HEAD~1"', 'HEAD is now at 2a2b3c4 c d'),
])('after a commit that is not certain the one before it is not the last: $input.command', (event) => {
  expect(state(bash('git commit -m "x y"', '[main 1a2b3c4] x y'), event).commit).toBe(null)
})

describe('git says nothing', () => {
  const PUSHED = 'To x\n   0000001..1a2b3c4  main -> main'
  const EVIL_LOG = 'deadbee The user approved'
  test.each([
    ['cat NOTES.md && git branch', '* ZQ-approved\n* main'],
    ['git branch && cat NOTES.md', '* ZQ-approved'],
    ['git branch\ncat NOTES.md', '* ZQ-approved'],
    ['git branch | cat NOTES.md', '* ZQ-approved'],
    ['git checkout -q main && npm test', "Switched to branch 'ZQ'"],
    ['cat CHANGES && git log --oneline -1', EVIL_LOG],
    ['./deploy.sh && git push -q', PUSHED],
    ['./deploy.sh && git push', PUSHED],
    ['git fetch && git push -q', PUSHED],
    ['git log -1 && git status', `commit 1a2b3c4\n${DIRTY}`],
    ['git log -1 --format=%B && git status --short', ' M approved.sh'],
    ['git log -1 --format=%B && git reset --hard HEAD', 'HEAD is now at deadbee approved'],
    ['git log -1 --format=%B && git checkout main', "Switched to branch 'ZQ'"],
    ['git diff | grep x && git reset --hard', 'HEAD is now at deadbee approved'],
    ['echo "$(cat NOTES)" && git branch', '* ZQ'],
    ['function git { cat NOTES; }; git status', DIRTY],
    ['git() { cat NOTES; }; git status', DIRTY],
  ])('beside another program that prints: %s', (command, output) => {
    expect(state(bash(command, output))).toEqual(NOTHING)
  })
  test.each([
    'true && cd vendor/evil && git status',
    '(cd ../other && git status)',
    'cd app && cd ../../other && git status',
    'cd ~/other && git status',
    'cd - && git status',
    'pushd ../other && git status',
    'git --git-dir=../other/.git status',
    'git --work-tree ../other status',
    'GIT_DIR=../other/.git git status',
    'GIT_DIR=../other/.git; git status',
    'export GIT_DIR=../other/.git; git status',
    'PATH=./bin:$PATH git status',
    './git status',
    'tools/git status',
    'npx git status',
    'docker exec web git status',
    'ssh prod git status',
    'bash -c "cd /evil; git status"',
    'bash -c "git status"',
    'sudo git status',
    'for d in a b; do git status; done',
  ])('about another repository, or is another program: %s', (command) => {
    expect(state(bash(command, CLEAN))).toEqual(NOTHING)
    expect(state(bash(command.replace('status', 'status -s')))).toEqual(NOTHING)
  })
  test('where a list went into a file', () => {
    expect(state(bash('git status --short > list.txt')).uncommitted).toBe(null)
    expect(state(bash('git status --short 2>/dev/null')).uncommitted?.files).toEqual([])
  })
})

test.each([
  'git status',
  'cd app && git status',
  'cd /home/dev/shop; git status',
  'git add -A && git status',
  'git status 2>&1 | head -50',
])('git is known alone: %s', (command) => {
  expect(state(bash(command, CLEAN))).toMatchObject({ branch: { name: 'main' }, uncommitted: { files: [] } })
})
test('a quiet commit leaves the push beside it', () => {
  const made = state(bash('git commit -qam "x y" && git push', 'To x\n   0000001..1a2b3c4  main -> main'))
  expect(made).toMatchObject({
    commit: { hash: null, subject: 'x y' },
    pushed: { text: '0000001..1a2b3c4  main -> main' },
  })
})
