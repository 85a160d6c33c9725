/** A Python data tool: a new import format, an encoding trap, a wrong sign found by a test, a flag in the CLI. */
import { changelog, packageList, pyModule } from '../../material.ts'
import type { Recorder } from '../../recorder.ts'
import type { Fact } from '../../scenario.ts'

export const project = 'pocketledger'
export const client = '2.0.76'

export const facts: Fact[] = [
  { ask: 'Why did the import of the bank file fail at first?', expect: ['UnicodeDecodeError', 'cp1252'] },
  { ask: 'Which class reads the new bank format?', expect: ['NordbankReader'] },
  { ask: 'Where do readers register themselves?', expect: ['READERS', 'ledger/readers/__init__.py'] },
  { ask: 'Why were debits counted as income?', expect: ['S/H', 'sign'] },
  { ask: 'Why Decimal and not float for amounts?', expect: ['Decimal', 'float'] },
  { ask: 'How are duplicate bookings recognised?', expect: ['fingerprint', 'sha256'] },
  { ask: 'Which option shows what an import would do?', expect: ['--dry-run'] },
  { ask: 'What do amounts in the bank file look like?', expect: ['1.234,56'] },
  { ask: 'How many tests pass at the end?', expect: ['11 passed'] },
  { ask: 'What is left to do?', expect: ['foreign currency'] },
]

const MODEL = `from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class Booking:
    day: date
    payee: str
    amount: Decimal
    note: str = ""
`
const PLAIN = `import csv
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Iterator

from ledger.model import Booking


class PlainReader:
    """Our own export: day;payee;amount;note, UTF-8."""

    name = "plain"

    def read(self, path: Path) -> Iterator[Booking]:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter=";"):
                yield Booking(
                    day=date.fromisoformat(row["day"]),
                    payee=row["payee"],
                    amount=Decimal(row["amount"]),
                    note=row.get("note", ""),
                )
`
const CLI = `import argparse
from pathlib import Path

from ledger.book import Book
from ledger.readers import READERS


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="ledger")
    parser.add_argument("file", type=Path)
    parser.add_argument("--format", choices=sorted(READERS), default="plain")
    parser.add_argument("--book", type=Path, default=Path("book.jsonl"))
    args = parser.parse_args(argv)
    book = Book(args.book)
    added = book.add_all(READERS[args.format]().read(args.file))
    print(f"{added} bookings added")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
`
const BOOK = `import json
from pathlib import Path
from typing import Iterable

from ledger.model import Booking


class Book:
    def __init__(self, path: Path) -> None:
        self.path = path

    def add_all(self, bookings: Iterable[Booking]) -> int:
        added = 0
        with self.path.open("a", encoding="utf-8") as file:
            for booking in bookings:
                file.write(json.dumps({
                    "day": booking.day.isoformat(),
                    "payee": booking.payee,
                    "amount": str(booking.amount),
                    "note": booking.note,
                }) + "\\n")
                added += 1
        return added
`
const NORDBANK = `import csv
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Iterator

from ledger.model import Booking

HEADER_LINES = 4


class NordbankReader:
    """Nordbank's CSV: four lines about the account, then Buchungstag;Empfänger;Betrag;S/H;Zweck."""

    name = "nordbank"

    def read(self, path: Path) -> Iterator[Booking]:
        with path.open(encoding="utf-8", newline="") as file:
            for _ in range(HEADER_LINES):
                next(file)
            for row in csv.DictReader(file, delimiter=";"):
                yield Booking(
                    day=datetime.strptime(row["Buchungstag"], "%d.%m.%Y").date(),
                    payee=row["Empfänger"].strip(),
                    amount=parse_amount(row["Betrag"]),
                    note=row["Zweck"].strip(),
                )


def parse_amount(text: str) -> Decimal:
    """1.234,56 as people write it in Germany."""
    return Decimal(text.replace(".", "").replace(",", "."))
`

export default async function (r: Recorder): Promise<void> {
  r.files({
    'ledger/__init__.py': '',
    'ledger/model.py': MODEL,
    'ledger/book.py': BOOK,
    'ledger/cli.py': CLI,
    'ledger/readers/__init__.py':
      'from ledger.readers.plain import PlainReader\n\nREADERS = {reader.name: reader for reader in (PlainReader,)}\n',
    'ledger/readers/plain.py': PLAIN,
    'tests/test_plain.py':
      'from decimal import Decimal\n\nfrom ledger.readers.plain import PlainReader\n\n\ndef test_reads_rows(tmp_path):\n    file = tmp_path / "a.csv"\n    file.write_text("day;payee;amount;note\\n2026-01-02;Bakery;-3.20;rolls\\n", encoding="utf-8")\n    [booking] = PlainReader().read(file)\n    assert booking.amount == Decimal("-3.20")\n    assert booking.payee == "Bakery"\n\n\ndef test_empty_file(tmp_path):\n    file = tmp_path / "a.csv"\n    file.write_text("day;payee;amount;note\\n", encoding="utf-8")\n    assert list(PlainReader().read(file)) == []\n',
    'pyproject.toml':
      '[project]\nname = "pocketledger"\nversion = "0.7.0"\nrequires-python = ">=3.11"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = "-q -p no:cacheprovider"\n',
    'ledger/reports.py': pyModule(24),
    'CHANGELOG.md': changelog(25),
    'README.md': '# pocketledger\n\nImports bank exports into one book.\n',
  })
  r.shell(
    `mkdir -p samples && printf 'Konto;DE02 1203 0000 0000 2020 51\\nInhaber;J. Brandt\\nZeitraum;01.02.2026-28.02.2026\\n\\nBuchungstag;Empfänger;Betrag;S/H;Zweck\\n03.02.2026;Bäckerei Möller;4,80;S;Brötchen\\n05.02.2026;Werkstatt Süd;1.234,56;S;Inspektion\\n27.02.2026;Arbeitgeber AG;3.100,00;H;Gehalt Februar\\n' | iconv -f UTF-8 -t CP1252 > samples/nordbank-2026-02.csv && git init -q && git add -A && git commit -qm "Release 0.7.0"`,
  )

  r.prompt(
    'We need to import CSV exports of Nordbank, there is a sample in samples/nordbank-2026-02.csv. Please add a reader for it like the plain one, with tests.',
  )
  r.say('Let me see how readers are organised and what the sample looks like.')
  await r.bash('git status --short; ls -R ledger tests samples', { description: 'Look around' })
  await r.read('ledger/readers/plain.py')
  await r.read('ledger/readers/__init__.py')
  await r.read('ledger/model.py')
  await r.bash('head -8 samples/nordbank-2026-02.csv', { description: 'Show the sample' })
  await r.bash('file samples/nordbank-2026-02.csv', {
    description: 'Which encoding?',
    stdoutOverride: 'samples/nordbank-2026-02.csv: ISO-8859 text',
  })
  await r.read('tests/test_plain.py')
  await r.read('ledger/reports.py')
  await r.read('CHANGELOG.md')
  r.todo([
    { content: 'Write NordbankReader', status: 'in_progress' },
    { content: 'Register it', status: 'pending' },
    { content: 'Tests', status: 'pending' },
  ])
  await r.write('ledger/readers/nordbank.py', NORDBANK)
  await r.edit(
    'ledger/readers/__init__.py',
    'from ledger.readers.plain import PlainReader\n\nREADERS = {reader.name: reader for reader in (PlainReader,)}',
    'from ledger.readers.nordbank import NordbankReader\nfrom ledger.readers.plain import PlainReader\n\nREADERS = {reader.name: reader for reader in (NordbankReader, PlainReader)}',
  )
  await r.bash('python -m ledger.cli samples/nordbank-2026-02.csv --format nordbank --book /home/dev/check.jsonl', {
    description: 'Import the sample',
  })
  r.say('The bank exports Windows-1252, not UTF-8.')
  await r.edit(
    'ledger/readers/nordbank.py',
    'path.open(encoding="utf-8", newline="")',
    'path.open(encoding="cp1252", newline="")',
  )
  await r.bash(
    'python -m ledger.cli samples/nordbank-2026-02.csv --format nordbank --book /home/dev/check.jsonl && cat /home/dev/check.jsonl',
    { description: 'Import the sample again' },
  )
  await r.write(
    'tests/test_nordbank.py',
    'from decimal import Decimal\nfrom pathlib import Path\n\nimport pytest\n\nfrom ledger.readers.nordbank import NordbankReader, parse_amount\n\nSAMPLE = Path(__file__).parent.parent / "samples" / "nordbank-2026-02.csv"\n\n\n@pytest.mark.parametrize("text, value", [("4,80", "4.80"), ("1.234,56", "1234.56"), ("0,00", "0")])\ndef test_parse_amount(text, value):\n    assert parse_amount(text) == Decimal(value)\n\n\ndef test_reads_the_sample():\n    bookings = list(NordbankReader().read(SAMPLE))\n    assert [b.payee for b in bookings] == ["Bäckerei Möller", "Werkstatt Süd", "Arbeitgeber AG"]\n\n\ndef test_debits_are_negative():\n    amounts = [b.amount for b in NordbankReader().read(SAMPLE)]\n    assert amounts == [Decimal("-4.80"), Decimal("-1234.56"), Decimal("3100.00")]\n',
  )
  await r.bash('python -m pytest', { description: 'Run the tests' })
  r.say('Debits come as positive numbers with S in the S/H column (Soll/Haben): the reader must set the sign.')
  await r.read('ledger/readers/nordbank.py')
  await r.edit(
    'ledger/readers/nordbank.py',
    'amount=parse_amount(row["Betrag"]),',
    'amount=signed(parse_amount(row["Betrag"]), row["S/H"]),',
  )
  await r.edit(
    'ledger/readers/nordbank.py',
    'def parse_amount(text: str)',
    'def signed(amount: Decimal, side: str) -> Decimal:\n    """S is Soll (money out), H is Haben (money in); the amount itself has no sign."""\n    if side not in ("S", "H"):\n        raise ValueError(f"neither S nor H: {side!r}")\n    return -amount if side == "S" else amount\n\n\ndef parse_amount(text: str)',
  )
  await r.bash('python -m pytest', { description: 'Run the tests' })
  await r.bash(
    'git add -A && git commit -q -m "Read Nordbank exports" -m "cp1252, four header lines, amounts like 1.234,56 without a sign: the S/H column says whether money went out." && git log --oneline | head -3',
    { description: 'Commit' },
  )
  r.end('Nordbank exports can be imported with `--format nordbank`. The sample goes through and the tests pass.')

  r.prompt(
    'Nice. I re-import overlapping months, so the same booking ends up in the book twice. Can you make imports idempotent? And a way to see what an import would do without writing. Keep Decimal everywhere instead of float, because float amounts would never compare equal.',
  )
  await r.read('ledger/book.py')
  await r.read('ledger/cli.py')
  await r.read('ledger/reports.py')
  await r.bash('pip list', { description: 'What is installed', stdoutOverride: packageList(60) })
  await r.grep('add_all', { output_mode: 'content', '-n': true })
  r.think(
    'Fingerprint of day, payee, amount, note. Two identical bookings on one day are legitimate: count occurrences.',
  )
  await r.multiEdit('ledger/book.py', [
    {
      old_string: 'import json\nfrom pathlib import Path\n',
      new_string: 'import hashlib\nimport json\nfrom collections import Counter\nfrom pathlib import Path\n',
    },
    {
      old_string:
        '    def add_all(self, bookings: Iterable[Booking]) -> int:\n        added = 0\n        with self.path.open("a", encoding="utf-8") as file:\n            for booking in bookings:\n',
      new_string:
        '    def add_all(self, bookings: Iterable[Booking], dry_run: bool = False) -> int:\n        fresh = self.missing(bookings)\n        if dry_run:\n            return len(fresh)\n        added = 0\n        with self.path.open("a", encoding="utf-8") as file:\n            for booking in fresh:\n',
    },
    {
      old_string: '        return added\n',
      new_string:
        '        return added\n\n    def missing(self, bookings: Iterable[Booking]) -> list[Booking]:\n        """Those that are not in the book yet. Two equal bookings on one day are two: they are counted."""\n        known = Counter(self.fingerprints())\n        fresh = []\n        for booking in bookings:\n            mark = fingerprint(booking)\n            if known[mark] > 0:\n                known[mark] -= 1\n            else:\n                fresh.append(booking)\n        return fresh\n\n    def fingerprints(self) -> Iterable[str]:\n        if not self.path.exists():\n            return\n        with self.path.open(encoding="utf-8") as file:\n            for line in file:\n                row = json.loads(line)\n                yield digest(row["day"], row["payee"], row["amount"], row["note"])\n\n\ndef fingerprint(booking: Booking) -> str:\n    return digest(booking.day.isoformat(), booking.payee, booking.amount, booking.note)\n\n\ndef digest(*parts: str) -> str:\n    return hashlib.sha256("\\x1f".join(parts).encode()).hexdigest()\n',
    },
  ])
  await r.edit(
    'ledger/cli.py',
    '    args = parser.parse_args(argv)\n',
    '    parser.add_argument("--dry-run", action="store_true", help="say what would be added, write nothing")\n    args = parser.parse_args(argv)\n',
  )
  await r.edit(
    'ledger/cli.py',
    '    added = book.add_all(READERS[args.format]().read(args.file))\n    print(f"{added} bookings added")',
    "    added = book.add_all(READERS[args.format]().read(args.file), dry_run=args.dry_run)\n    print(f\"{added} bookings {'would be ' if args.dry_run else ''}added\")",
  )
  await r.write(
    'tests/test_book.py',
    'from datetime import date\nfrom decimal import Decimal\n\nfrom ledger.book import Book\nfrom ledger.cli import main\nfrom ledger.model import Booking\n\nROLLS = Booking(date(2026, 2, 3), "Bakery", Decimal("-4.80"), "rolls")\n\n\ndef test_the_same_booking_is_added_once(tmp_path):\n    book = Book(tmp_path / "book.jsonl")\n    assert book.add_all([ROLLS]) == 1\n    assert book.add_all([ROLLS]) == 0\n\n\ndef test_two_equal_bookings_on_one_day_are_two(tmp_path):\n    book = Book(tmp_path / "book.jsonl")\n    assert book.add_all([ROLLS, ROLLS]) == 2\n    assert book.add_all([ROLLS, ROLLS, ROLLS]) == 1\n\n\ndef test_dry_run_writes_nothing(tmp_path):\n    book = Book(tmp_path / "book.jsonl")\n    assert book.add_all([ROLLS], dry_run=True) == 1\n    assert not book.path.exists()\n\n\ndef test_cli_dry_run(tmp_path, capsys):\n    code = main(["samples/nordbank-2026-02.csv", "--format", "nordbank", "--book", str(tmp_path / "b"), "--dry-run"])\n    assert code == 0\n    assert capsys.readouterr().out == "3 bookings would be added\\n"\n',
  )
  await r.bash('python -m pytest', { description: 'Run the tests' })
  await r.edit(
    'ledger/book.py',
    'booking.day.isoformat(), booking.payee, booking.amount, booking.note',
    'booking.day.isoformat(), booking.payee, str(booking.amount), booking.note',
  )
  await r.bash('python -m pytest', { description: 'Run the tests' })
  await r.bash('git diff --stat; git status --short', { description: 'What changed' })
  await r.bash(
    'git add -A && git commit -q -m "Make imports idempotent" -m "A booking is known by a sha256 fingerprint of day, payee, amount and note; equal ones are counted." && git status --short',
    { description: 'Commit' },
  )
  r.end(
    'Importing the same month twice adds nothing the second time, and two equal coffees on one day stay two.\n\nNot done: bookings in a foreign currency; the sample has none, so I do not know how Nordbank writes them.',
  )
}
