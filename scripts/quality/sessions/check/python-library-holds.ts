import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'stacks'

/** Python: a feature with migrations on real data, a time zone bug, a slow query. All tests and migrations really run. */

const manage = `#!/usr/bin/env python3
"""Command line of stacks: migrate, showmigrations, seed."""
import sys

from stacks import db


def main(argv):
    command = argv[1] if len(argv) > 1 else "help"
    path = argv[2] if len(argv) > 2 else "stacks.sqlite3"
    conn = db.connect(path)
    if command == "migrate":
        for name in db.migrate(conn):
            print(f"  Applying {name}... OK")
        print("Database is up to date.")
    elif command == "showmigrations":
        done = db.applied(conn)
        for name in db.available():
            print(f" [{'X' if name in done else ' '}] {name}")
    elif command == "seed":
        conn.executemany(
            "INSERT INTO members (name, email) VALUES (?, ?)",
            [("Ines Falk", "ines@example.org"), ("Tomas Reyes", "tomas@example.org"), ("Ada Moor", "ada@example.org")],
        )
        conn.executemany("INSERT INTO books (title, copies) VALUES (?, ?)", [("Dune", 1), ("Emma", 2)])
        conn.commit()
        print("3 members, 2 books")
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
`

const dbPy = `"""Connection and migrations: every .sql file of migrations/ runs once, in order of its name."""
import sqlite3
from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"


def connect(path=":memory:"):
    conn = sqlite3.connect(path)
    conn.row_factory = sqlite3.Row
    conn.execute("PRAGMA foreign_keys = ON")
    conn.execute("CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY)")
    return conn


def available():
    return sorted(p.stem for p in MIGRATIONS.glob("*.sql"))


def applied(conn):
    return {row["name"] for row in conn.execute("SELECT name FROM schema_migrations")}


def migrate(conn):
    done = applied(conn)
    for name in available():
        if name in done:
            continue
        conn.executescript((MIGRATIONS / f"{name}.sql").read_text())
        conn.execute("INSERT INTO schema_migrations (name) VALUES (?)", (name,))
        conn.commit()
        yield name
`

const initialSql = `CREATE TABLE members (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE
);

CREATE TABLE books (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  copies INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE loans (
  id INTEGER PRIMARY KEY,
  book_id INTEGER NOT NULL REFERENCES books(id),
  member_id INTEGER NOT NULL REFERENCES members(id),
  due_on TEXT NOT NULL,
  returned_at TEXT
);
`

const loansPy = `"""Lending books and taking them back."""
from datetime import datetime, timedelta, timezone

LOAN_DAYS = 21


class NotAvailable(Exception):
    pass


def now():
    return datetime.now(timezone.utc)


def free_copies(conn, book_id):
    row = conn.execute(
        "SELECT b.copies - (SELECT count(*) FROM loans l WHERE l.book_id = b.id AND l.returned_at IS NULL) AS free"
        " FROM books b WHERE b.id = ?",
        (book_id,),
    ).fetchone()
    return row["free"]


def checkout(conn, book_id, member_id, at=None):
    at = at or now()
    if free_copies(conn, book_id) < 1:
        raise NotAvailable(f"no free copy of book {book_id}")
    due = (at + timedelta(days=LOAN_DAYS)).date().isoformat()
    cur = conn.execute("INSERT INTO loans (book_id, member_id, due_on) VALUES (?, ?, ?)", (book_id, member_id, due))
    conn.commit()
    return cur.lastrowid


def give_back(conn, loan_id, at=None):
    at = at or now()
    conn.execute("UPDATE loans SET returned_at = ? WHERE id = ?", (at.isoformat(), loan_id))
    conn.commit()


def overdue(conn, today):
    return conn.execute(
        "SELECT l.id, m.email, b.title FROM loans l JOIN members m ON m.id = l.member_id JOIN books b ON b.id = l.book_id"
        " WHERE l.returned_at IS NULL AND l.due_on < ?",
        (today.isoformat(),),
    ).fetchall()
`

const testLoans = `import unittest
from datetime import date, datetime, timezone

from stacks import db, loans


class LoanTests(unittest.TestCase):
    def setUp(self):
        self.conn = db.connect()
        list(db.migrate(self.conn))
        self.conn.execute("INSERT INTO members (name, email) VALUES ('Ines Falk', 'ines@example.org')")
        self.conn.execute("INSERT INTO books (title, copies) VALUES ('Dune', 1)")

    def test_checkout_takes_the_copy(self):
        loans.checkout(self.conn, 1, 1)
        self.assertEqual(loans.free_copies(self.conn, 1), 0)

    def test_second_checkout_is_refused(self):
        loans.checkout(self.conn, 1, 1)
        with self.assertRaises(loans.NotAvailable):
            loans.checkout(self.conn, 1, 1)

    def test_give_back_frees_the_copy(self):
        loan = loans.checkout(self.conn, 1, 1)
        loans.give_back(self.conn, loan)
        self.assertEqual(loans.free_copies(self.conn, 1), 1)

    def test_overdue(self):
        loans.checkout(self.conn, 1, 1, at=datetime(2024, 1, 1, tzinfo=timezone.utc))
        self.assertEqual([r["email"] for r in loans.overdue(self.conn, date(2024, 2, 1))], ["ines@example.org"])


if __name__ == "__main__":
    unittest.main()
`

const holdsPy = `"""Holds: members queue for a book that is out."""
from datetime import datetime, timedelta

from stacks.loans import free_copies, now

PICKUP_DAYS = 3


class HoldRefused(Exception):
    pass


def place_hold(conn, book_id, member_id, at=None):
    at = at or now()
    if free_copies(conn, book_id) > 0:
        raise HoldRefused("the book is on the shelf")
    cur = conn.execute(
        "INSERT INTO holds (book_id, member_id, placed_at) VALUES (?, ?, ?)", (book_id, member_id, at.isoformat())
    )
    conn.commit()
    return cur.lastrowid


def queue_position(conn, hold_id):
    row = conn.execute(
        "SELECT (SELECT count(*) FROM holds o WHERE o.book_id = h.book_id AND o.closed_at IS NULL"
        " AND o.placed_at <= h.placed_at) AS position FROM holds h WHERE h.id = ?",
        (hold_id,),
    ).fetchone()
    return row["position"]


def ready_next(conn, book_id, at=None):
    """A copy came back: the first waiting hold becomes ready for pick-up."""
    at = at or now()
    row = conn.execute(
        "SELECT id FROM holds WHERE book_id = ? AND closed_at IS NULL AND ready_at IS NULL ORDER BY placed_at LIMIT 1",
        (book_id,),
    ).fetchone()
    if row is None:
        return None
    conn.execute("UPDATE holds SET ready_at = ? WHERE id = ?", (at.isoformat(), row["id"]))
    conn.commit()
    return row["id"]


def expire_holds(conn, at=None):
    """Closes holds that were ready for longer than PICKUP_DAYS and passes the copy on."""
    at = at or datetime.utcnow()
    expired = []
    for row in conn.execute("SELECT id, book_id, ready_at FROM holds WHERE closed_at IS NULL AND ready_at IS NOT NULL"):
        if at - datetime.fromisoformat(row["ready_at"]) > timedelta(days=PICKUP_DAYS):
            expired.append((row["id"], row["book_id"]))
    for hold_id, book_id in expired:
        conn.execute("UPDATE holds SET closed_at = ? WHERE id = ?", (at.isoformat(), hold_id))
        ready_next(conn, book_id, at)
    conn.commit()
    return [hold_id for hold_id, _ in expired]
`

const holdsSql = `CREATE TABLE holds (
  id INTEGER PRIMARY KEY,
  book_id INTEGER NOT NULL REFERENCES books(id),
  member_id INTEGER NOT NULL REFERENCES members(id),
  placed_at TEXT NOT NULL,
  ready_at TEXT,
  closed_at TEXT
);

-- one open hold per member and book
CREATE UNIQUE INDEX holds_open ON holds (book_id, member_id) WHERE closed_at IS NULL;
`

const testHolds = `import sqlite3
import unittest
from datetime import datetime, timedelta, timezone

from stacks import db, holds, loans

DAY = timedelta(days=1)
MONDAY = datetime(2024, 3, 4, 9, 0, tzinfo=timezone.utc)


class HoldTests(unittest.TestCase):
    def setUp(self):
        self.conn = db.connect()
        list(db.migrate(self.conn))
        for name in ("ines", "tomas", "ada"):
            self.conn.execute("INSERT INTO members (name, email) VALUES (?, ?)", (name, f"{name}@example.org"))
        self.conn.execute("INSERT INTO books (title, copies) VALUES ('Dune', 1)")
        self.loan = loans.checkout(self.conn, 1, 1, at=MONDAY)

    def test_hold_needs_a_book_that_is_out(self):
        loans.give_back(self.conn, self.loan)
        with self.assertRaises(holds.HoldRefused):
            holds.place_hold(self.conn, 1, 2)

    def test_queue_in_order_of_placing(self):
        first = holds.place_hold(self.conn, 1, 2, at=MONDAY)
        second = holds.place_hold(self.conn, 1, 3, at=MONDAY + DAY)
        self.assertEqual(holds.queue_position(self.conn, first), 1)
        self.assertEqual(holds.queue_position(self.conn, second), 2)

    def test_one_open_hold_per_member(self):
        holds.place_hold(self.conn, 1, 2, at=MONDAY)
        with self.assertRaises(sqlite3.IntegrityError):
            holds.place_hold(self.conn, 1, 2, at=MONDAY + DAY)

    def test_return_makes_first_hold_ready(self):
        first = holds.place_hold(self.conn, 1, 2, at=MONDAY)
        loans.give_back(self.conn, self.loan, at=MONDAY + DAY)
        row = self.conn.execute("SELECT ready_at FROM holds WHERE id = ?", (first,)).fetchone()
        self.assertIsNotNone(row["ready_at"])

    def test_ready_hold_expires_after_three_days(self):
        first = holds.place_hold(self.conn, 1, 2, at=MONDAY - 10 * DAY)
        second = holds.place_hold(self.conn, 1, 3, at=MONDAY - 9 * DAY)
        holds.ready_next(self.conn, 1, at=MONDAY - 8 * DAY)
        self.assertEqual(holds.expire_holds(self.conn), [first])
        self.assertEqual(holds.queue_position(self.conn, second), 1)

    def test_reserved_copy_is_not_lent_to_somebody_else(self):
        holds.place_hold(self.conn, 1, 2, at=MONDAY)
        loans.give_back(self.conn, self.loan, at=MONDAY + DAY)
        with self.assertRaises(loans.NotAvailable):
            loans.checkout(self.conn, 1, 3, at=MONDAY + DAY)


if __name__ == "__main__":
    unittest.main()
`

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      'manage.py': manage,
      'stacks/__init__.py': '',
      'stacks/db.py': dbPy,
      'stacks/loans.py': loansPy,
      'stacks/migrations/0001_initial.sql': initialSql,
      'tests/__init__.py': '',
      'tests/test_loans.py': testLoans,
      'README.md':
        '# stacks\n\nLending for the town library of Velmar. `python3 manage.py migrate`, `python3 -m unittest`.\n',
      '.gitignore': '*.sqlite3\n__pycache__/\n',
    },
    { author: 'Mara Lindqvist', commits: ['Loans and members', 'Overdue report', 'Simple migrations without Django'] },
  )

  r.prompt(
    'We need holds in stacks: a member can queue for a book that is lent out; when a copy comes back the first in the queue has 3 days to pick it up, then it goes to the next. Migration, code and tests please. Do not store the queue position, compute it from placed_at, because cancelling in the middle would otherwise mean renumbering everybody behind.',
  )
  r.todo([
    { content: 'Understand loans and migrations', status: 'in_progress', activeForm: 'Reading' },
    { content: 'Migration for holds', status: 'pending', activeForm: 'Writing migration' },
    { content: 'holds module and tests', status: 'pending', activeForm: 'Writing holds' },
  ])
  await r.bash('ls -R . | grep -v pyc | head -30', { description: 'List the project' })
  await r.read('stacks/db.py')
  await r.read('stacks/loans.py')
  await r.read('stacks/migrations/0001_initial.sql')
  await r.read('tests/test_loans.py')
  await r.bash('python3 -m unittest 2>&1 | tail -5', { description: 'Run tests before the change' })
  await r.bash('python3 manage.py migrate && python3 manage.py seed', { description: 'Create a development database' })
  await r.write('stacks/migrations/0002_holds.sql', holdsSql)
  await r.write('stacks/holds.py', holdsPy)
  await r.write('tests/test_holds.py', testHolds)
  await r.bash('python3 -m unittest', { description: 'Run all tests' })
  r.say(
    'Three failures. The return does not wake the queue yet, a ready copy can be lent to anybody, and expire_holds compares a naive utcnow with aware timestamps. One after the other.',
  )
  await r.bash(
    'python3 -m unittest tests.test_holds.HoldTests.test_ready_hold_expires_after_three_days 2>&1 | tail -12',
    {
      description: 'Look at the TypeError alone',
    },
  )
  await r.grep('utcnow', { path: '.', glob: '*.py', output_mode: 'content', '-n': true })
  await r.edit('stacks/holds.py', '    at = at or datetime.utcnow()\n', '    at = at or now()\n')
  await r.bash(
    'python3 -m unittest tests.test_holds.HoldTests.test_ready_hold_expires_after_three_days 2>&1 | tail -4',
    {
      description: 'Run the expiry test',
    },
  )
  await r.edit(
    'stacks/loans.py',
    `    conn.execute("UPDATE loans SET returned_at = ? WHERE id = ?", (at.isoformat(), loan_id))
    conn.commit()
`,
    `    conn.execute("UPDATE loans SET returned_at = ? WHERE id = ?", (at.isoformat(), loan_id))
    conn.commit()
    book_id = conn.execute("SELECT book_id FROM loans WHERE id = ?", (loan_id,)).fetchone()["book_id"]
    holds.ready_next(conn, book_id, at)
`,
  )
  await r.edit(
    'stacks/loans.py',
    'from datetime import datetime, timedelta, timezone\n',
    'from datetime import datetime, timedelta, timezone\n\nfrom stacks import holds\n',
  )
  await r.bash('python3 -m unittest', { description: 'Run all tests' })
  await r.bash('python3 -m unittest tests.test_loans', { description: 'Run the loan tests alone' })
  r.say(
    'The loan tests alone do not even start, a circular import: holds needs free_copies and now from loans, loans needs holds. I move both helpers into a small module availability.py that neither depends on.',
  )
  await r.write(
    'stacks/availability.py',
    `"""What is free: shared by loans and holds, depends on neither."""
from datetime import datetime, timezone


def now():
    return datetime.now(timezone.utc)


def free_copies(conn, book_id, for_member=None):
    """Copies on the shelf that are not kept for somebody else's ready hold."""
    row = conn.execute(
        "SELECT b.copies"
        " - (SELECT count(*) FROM loans l WHERE l.book_id = b.id AND l.returned_at IS NULL)"
        " - (SELECT count(*) FROM holds h WHERE h.book_id = b.id AND h.closed_at IS NULL AND h.ready_at IS NOT NULL"
        "    AND h.member_id IS NOT ?) AS free"
        " FROM books b WHERE b.id = ?",
        (for_member, book_id),
    ).fetchone()
    return row["free"]
`,
  )
  await r.edit(
    'stacks/holds.py',
    'from stacks.loans import free_copies, now\n',
    'from stacks.availability import free_copies, now\n',
  )
  await r.multiEdit('stacks/loans.py', [
    {
      old_string: `def now():
    return datetime.now(timezone.utc)


def free_copies(conn, book_id):
    row = conn.execute(
        "SELECT b.copies - (SELECT count(*) FROM loans l WHERE l.book_id = b.id AND l.returned_at IS NULL) AS free"
        " FROM books b WHERE b.id = ?",
        (book_id,),
    ).fetchone()
    return row["free"]


`,
      new_string: '',
    },
    {
      old_string: 'from datetime import datetime, timedelta, timezone\n\nfrom stacks import holds\n',
      new_string:
        'from datetime import timedelta\n\nfrom stacks import holds\nfrom stacks.availability import free_copies, now\n',
    },
    {
      old_string: '    if free_copies(conn, book_id) < 1:',
      new_string: '    if free_copies(conn, book_id, for_member=member_id) < 1:',
    },
  ])
  await r.bash('python3 -m unittest', { description: 'Run all tests' })
  await r.bash('python3 manage.py showmigrations && python3 manage.py migrate', {
    description: 'Migrate the dev database',
  })
  await r.bash('git status --short', { description: 'Check what changed' })
  await r.bash(
    `git add -A && git commit -q -F - <<'MSG'
Add holds with a three day pick-up window

The queue position is computed from placed_at instead of stored, because a
cancelled hold would force renumbering. free_copies moved to availability.py
to break the import cycle between loans and holds.
MSG
git log --oneline | head -1`,
    { description: 'Commit holds' },
  )
  r.end(
    'Holds are in: `place_hold`, `queue_position`, `ready_next` and `expire_holds` in `stacks/holds.py`, migration `0002_holds`, 10 tests pass. A returned copy is kept for the first in the queue for 3 days. Two problems on the way: `expire_holds` mixed naive and aware datetimes, and loans and holds imported each other, so `free_copies` lives in `stacks/availability.py` now.',
  )

  r.prompt(
    'Now branches: we open a second house in Nordhafen. A hold needs a pickup_branch. I put a copy of the staging data into staging.sqlite3 for you (create it from the seed, it has open holds), the migration has to work there.',
  )
  await r.bash(
    `cp stacks.sqlite3 staging.sqlite3 && python3 - <<'PY'
from stacks import db, holds, loans
conn = db.connect("staging.sqlite3")
loans.checkout(conn, 1, 1)
for member in (2, 3):
    print("hold", holds.place_hold(conn, 1, member))
PY`,
    { description: 'Prepare the staging copy' },
  )
  await r.write(
    'stacks/migrations/0003_pickup_branch.sql',
    'ALTER TABLE holds ADD COLUMN pickup_branch TEXT NOT NULL;\n',
  )
  await r.bash('python3 manage.py migrate staging.sqlite3', { description: 'Migrate the staging copy' })
  r.say(
    'SQLite refuses a NOT NULL column without a default, also in the tests. Existing holds were all placed at the central house, so the default is central.',
  )
  await r.bash('ls stacks/migrations && cat README.md', { description: 'Look for notes on branches' })
  await r.write(
    'stacks/migrations/0003_pickup_branch.sql',
    `-- holds from before the second house belong to the central one
ALTER TABLE holds ADD COLUMN pickup_branch TEXT NOT NULL DEFAULT 'central'
  CHECK (pickup_branch IN ('central', 'nordhafen'));
`,
  )
  await r.bash('python3 manage.py migrate staging.sqlite3', { description: 'Migrate the staging copy' })
  await r.bash(
    `python3 -c "
from stacks import db
for row in db.connect('staging.sqlite3').execute('SELECT id, member_id, pickup_branch FROM holds'): print(dict(row))"`,
    { description: 'Look at the migrated holds' },
  )
  await r.multiEdit('stacks/holds.py', [
    {
      old_string: 'def place_hold(conn, book_id, member_id, at=None):',
      new_string: 'def place_hold(conn, book_id, member_id, at=None, branch="central"):',
    },
    {
      old_string: `        "INSERT INTO holds (book_id, member_id, placed_at) VALUES (?, ?, ?)", (book_id, member_id, at.isoformat())
`,
      new_string: `        "INSERT INTO holds (book_id, member_id, placed_at, pickup_branch) VALUES (?, ?, ?, ?)",
        (book_id, member_id, at.isoformat(), branch),
`,
    },
  ])
  await r.edit(
    'tests/test_holds.py',
    '    def test_reserved_copy_is_not_lent',
    `    def test_hold_keeps_its_branch(self):
        hold = holds.place_hold(self.conn, 1, 2, branch="nordhafen")
        row = self.conn.execute("SELECT pickup_branch FROM holds WHERE id = ?", (hold,)).fetchone()
        self.assertEqual(row["pickup_branch"], "nordhafen")

    def test_unknown_branch_is_refused(self):
        with self.assertRaises(sqlite3.IntegrityError):
            holds.place_hold(self.conn, 1, 2, branch="sudhafen")

    def test_reserved_copy_is_not_lent`,
  )
  await r.bash('python3 -m unittest', { description: 'Run all tests' })
  await r.bash(
    'git add -A && git commit -q -m "Holds carry a pickup_branch, central for the existing ones" && git log --oneline | head -1',
    {
      description: 'Commit the branch column',
    },
  )
  r.end('Migration `0003_pickup_branch` works on the staging copy; both old holds became `central`. 12 tests pass.')

  r.prompt(
    'The nightly expire job takes ages on the real data (about 60k open holds, nearly all still waiting). Can you see why?',
  )
  await r.bash(
    `python3 - <<'PY'
from stacks import db
conn = db.connect()
list(db.migrate(conn))
for q in ("SELECT id, book_id, ready_at FROM holds WHERE closed_at IS NULL AND ready_at IS NOT NULL",
          "SELECT id FROM holds WHERE book_id = 1 AND closed_at IS NULL AND ready_at IS NULL ORDER BY placed_at LIMIT 1"):
    for row in conn.execute("EXPLAIN QUERY PLAN " + q):
        print(row["detail"])
PY`,
    { description: 'Query plans of the expire job' },
  )
  await r.read('stacks/holds.py', { offset: 36, limit: 30 })
  r.say(
    'The first query walks through every open hold. A partial index on ready_at covers exactly the few rows it needs.',
  )
  await r.write(
    'stacks/migrations/0004_holds_ready_index.sql',
    'CREATE INDEX holds_ready ON holds (ready_at) WHERE closed_at IS NULL AND ready_at IS NOT NULL;\n',
  )
  await r.bash(
    `python3 - <<'PY'
from stacks import db
conn = db.connect()
list(db.migrate(conn))
q = "SELECT id, book_id, ready_at FROM holds WHERE closed_at IS NULL AND ready_at IS NOT NULL"
for row in conn.execute("EXPLAIN QUERY PLAN " + q):
    print(row["detail"])
PY`,
    { description: 'Query plan with the index' },
  )
  await r.bash('python3 -m unittest 2>&1 | tail -3 && python3 manage.py migrate staging.sqlite3', {
    description: 'Tests and staging migration',
  })
  await r.bash(
    'git add -A && git commit -q -m "Index ready holds: expire_holds walked through every open one" && git status --short',
    {
      description: 'Commit the index',
    },
  )
  r.end(
    'The plan said SCAN holds: `expire_holds` walked through all 60k open holds each night to find a handful of ready ones. Migration 0004 adds the partial index `holds_ready`, the plan now uses it.',
  )

  r.prompt('Would Postgres be a problem for us later? Just tell me what in the code is SQLite only, no changes.')
  await r.agent(
    {
      description: 'Find SQLite-only code',
      prompt: 'List everything in stacks/ that works in SQLite but not in PostgreSQL, with file and line.',
      type: 'Explore',
    },
    async (sub) => {
      await sub.grep('sqlite3|executescript|PRAGMA|lastrowid', { path: 'stacks', output_mode: 'content', '-n': true })
      await sub.read('stacks/db.py')
      await sub.read('stacks/availability.py')
      await sub.grep('\\?', { path: 'stacks', glob: '*.py', output_mode: 'count' })
      return 'SQLite only: executescript and PRAGMA foreign_keys in db.py, cur.lastrowid in place_hold and checkout (PostgreSQL needs RETURNING id), "IS NOT ?" in free_copies (PostgreSQL: IS DISTINCT FROM), and the ? placeholders. Partial indexes work in both.'
    },
  )
  await r.grep('lastrowid', { path: '.', output_mode: 'content', '-n': true })
  r.end(
    'Four places are SQLite only: `lastrowid` in `place_hold` and `checkout` (needs `RETURNING id`), `IS NOT ?` in `free_copies` (needs `IS DISTINCT FROM`), `executescript`/`PRAGMA` in `db.py`, and the `?` placeholders. The partial indexes carry over. About a day of work; nothing changed.',
  )
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'Why is the queue position computed and not stored?', expect: ['placed_at', 'renumbering'] },
  { ask: 'What was wrong with the times in expire_holds?', expect: ['expire_holds', 'naive', 'aware'] },
  { ask: 'Why does availability.py exist?', expect: ['availability.py', 'import'] },
  { ask: 'How many days may a ready hold wait?', expect: ['3 days'] },
  { ask: 'Which error did the first pickup_branch migration give?', expect: ['NOT NULL', 'pickup_branch'] },
  { ask: 'Which branch did existing holds get?', expect: ['pickup_branch', 'central'] },
  { ask: 'How many tests pass after the branch change?', expect: ['12', 'tests', 'pickup_branch'] },
  { ask: 'Why was the nightly expire job slow?', expect: ['SCAN holds'] },
  { ask: 'Which index made it fast, in which migration?', expect: ['holds_ready', '0004'] },
  { ask: 'What is SQLite only in the code?', expect: ['lastrowid', 'RETURNING'] },
]
